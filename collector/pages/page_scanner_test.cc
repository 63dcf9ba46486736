#include "collector/pages/page_scanner.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "collector/pages/fault_fixture.h"
#include "collector/process/monotonic_clock.h"
#include "format/batches/residency.h"
#include "format/trace.pb.h"
#include "text/units_for_tests.h"
#include "tracer/wire/region_for_tests.h"

namespace pymemrun {
namespace {

TEST(ScanScheduleTest, FourTimesASecondWhileRssMoves) {
  ScanSchedule schedule;
  EXPECT_FALSE(schedule.IsDue(0, 0));  // RSS is not known
  EXPECT_TRUE(schedule.IsDue(0, 100 * kMiB));
  schedule.Asked(0, kMs, 100 * kMiB, 10);
  EXPECT_FALSE(schedule.IsDue(249 * kMs, 99 * kMiB));
  EXPECT_TRUE(schedule.IsDue(250 * kMs, 99 * kMiB));
  EXPECT_FALSE(schedule.IsDue(250 * kMs, 100 * kMiB));
}

TEST(ScanScheduleTest, ANewHighIsNotWaitedFor) {
  ScanSchedule schedule;
  schedule.Asked(0, kMs, 100 * kMiB, 10);
  EXPECT_FALSE(schedule.IsDue(19 * kMs, 200 * kMiB));  // 5 % of a CPU
  EXPECT_TRUE(schedule.IsDue(20 * kMs, 103 * kMiB));
  EXPECT_FALSE(schedule.IsDue(20 * kMs, 101 * kMiB));
  // A lower answer leaves the high where it was.
  schedule.Asked(300 * kMs, kMs, 50 * kMiB, 10);
  EXPECT_FALSE(schedule.IsDue(400 * kMs, 101 * kMiB));
  EXPECT_TRUE(schedule.IsDue(400 * kMs, 103 * kMiB));
}

TEST(ScanScheduleTest, WhatCostsMuchIsAskedSeldom) {
  ScanSchedule schedule;
  schedule.Asked(0, 40 * kMs, 1000 * kMiB, 10);
  EXPECT_FALSE(schedule.IsDue(1999 * kMs, 900 * kMiB));  // 2 % of a CPU
  EXPECT_TRUE(schedule.IsDue(2000 * kMs, 900 * kMiB));
  EXPECT_FALSE(schedule.IsDue(799 * kMs, 2000 * kMiB));  // 5 %
  EXPECT_TRUE(schedule.IsDue(800 * kMs, 2000 * kMiB));
  // Nor what makes the file grow.
  ScanSchedule many;
  many.Asked(0, kMs, 1000 * kMiB, 100000);
  EXPECT_FALSE(many.IsDue(499 * kMs, 2000 * kMiB));
  EXPECT_TRUE(many.IsDue(500 * kMs, 2000 * kMiB));
}

struct Answers final : RecordSink {
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    if (record.has_residency()) all.push_back(record.residency());
  }
  uint64_t Pages(size_t number) const {
    uint64_t pages = 0;
    for (const uint64_t count : all[number].pages()) pages += count;
    return pages;
  }
  std::vector<Residency> all;
};

class PageScannerTest : public testing::Test {
 protected:
  PageScannerTest() {
    page_->traced_pid = static_cast<uint32_t>(getpid());
    clock_.Start(/*time_is_tsc=*/false, {0, MonotonicNs()},
                 ClockScale::Measure());
  }
  void Take(const SideFileFound& item) {
    SideItemView view = {};
    std::memcpy(static_cast<void*>(&view), &item, sizeof(item));
    scanner_.TakeItem(view, 0);
  }

  TestRegion region_;
  ControlPage* const page_ = region_.page();
  ClockScale clock_;
  Answers answers_;
  DefinitionTable definitions_{&clock_, &answers_};
  SideItems side_{page_, region_.reply(), getpid(), &definitions_, &answers_};
  PageScanner scanner_{{.page = page_,
                        .pid = getpid(),
                        .page_bytes = kFixturePage,
                        .clock = &clock_,
                        .side = &side_,
                        .out = &answers_}};
};

TEST_F(PageScannerTest, ANewHighIsInTheNextAnswer) {
  scanner_.Ask();
  ASSERT_EQ(answers_.all.size(), 1u);
  const size_t kPages = 32 * kMiB / kFixturePage;
  char* const memory = MapFreshPages(kPages);
  for (size_t i = 0; i < kPages; ++i) memory[i * kFixturePage] = 1;
  scanner_.AskIfDue(MonotonicNs() + 3600 * 1000 * kMs);
  ASSERT_EQ(answers_.all.size(), 2u);
  EXPECT_GE(answers_.Pages(1), answers_.Pages(0) + kPages * 9 / 10);
  EXPECT_GT(answers_.all[1].rss_bytes(),
            answers_.all[0].rss_bytes() + 28 * kMiB);
  munmap(memory, kPages * kFixturePage);
}

TEST_F(PageScannerTest, AnAnswerIsOfTheTimeSinceWhichTheProgramWaits) {
  scanner_.Ask();
  const uint64_t now_ns = MonotonicNs();
  scanner_.AskIfDue(now_ns);
  EXPECT_EQ(answers_.all.size(), 1u);
  page_->finalize_ns = now_ns;
  scanner_.AskAsOf(now_ns);
  ASSERT_EQ(answers_.all.size(), 2u);
  EXPECT_EQ(answers_.all[1].begin_us(), clock_.MicrosOfMonotonic(now_ns));
  EXPECT_EQ(answers_.all[1].time_us(), answers_.all[1].begin_us());
}

// What was resident of a file before it was unmapped, at the highest RSS.
TEST_F(PageScannerTest, AFileThatCameAndWentIsAnAnswerAtANewHigh) {
  scanner_.Ask();
  const uint64_t rss_bytes = answers_.all[0].rss_bytes();
  SideFileFound item;
  item.kind = SideKind::kFileFound;
  item.time_ns = MonotonicNs() + kMs;
  item.address = uint64_t{0x10000000000};
  item.bytes = 32 * kMiB;
  item.rss_bytes = rss_bytes;  // as high as before
  Take(item);
  scanner_.AskIfDue(0);
  EXPECT_EQ(answers_.all.size(), 1u);
  item.time_ns += kMs;
  item.rss_bytes = rss_bytes + 40 * kMiB;
  Take(item);
  item.address += 64 * kMiB;
  item.bytes = 8 * kMiB;
  Take(item);
  scanner_.AskIfDue(0);
  ASSERT_EQ(answers_.all.size(), 3u);
  EXPECT_EQ(answers_.all[1].time_us(), clock_.MicrosOfMonotonic(item.time_ns));
  EXPECT_EQ(answers_.all[1].rss_bytes(), rss_bytes + 40 * kMiB);
  EXPECT_EQ(answers_.Pages(1), answers_.Pages(0) + 40 * kMiB / kFixturePage);
  EXPECT_EQ(answers_.all[2].time_us(), answers_.all[1].time_us() + 1);
  EXPECT_EQ(answers_.all[2].rss_bytes(), rss_bytes);
  EXPECT_EQ(answers_.Pages(2), answers_.Pages(0));
  // A little more came between the last answer and the call.
  item.rss_bytes = rss_bytes + 40 * kMiB + 4096;
  Take(item);
  scanner_.AskIfDue(0);
  EXPECT_EQ(answers_.all.size(), 3u);
  item.rss_bytes = rss_bytes + 40 * kMiB + 512 * 1024;
  item.time_ns += kMs;
  Take(item);
  scanner_.AskIfDue(0);
  ASSERT_EQ(answers_.all.size(), 5u);
  EXPECT_EQ(answers_.all[3].rss_bytes(), item.rss_bytes);
  // Addresses that cannot be, as a hostile program may say.
  item.address = ~uint64_t{0xfff};
  item.rss_bytes = 2 * item.rss_bytes;
  Take(item);
  scanner_.AskIfDue(0);
  ASSERT_EQ(answers_.all.size(), 7u);
  EXPECT_EQ(answers_.Pages(5), answers_.Pages(0));
}

}  // namespace
}  // namespace pymemrun
