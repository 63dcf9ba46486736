#include "collector/pages/residency_scan.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/pages/fault_fixture.h"
#include "text/units_for_tests.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

struct Names final : RecordSink {
  using RecordSink::Write;
  void Write(absl::string_view bytes, RowCounts) override {
    Record record;
    ASSERT_TRUE(record.ParseFromArray(bytes.data(), bytes.size()));
    EXPECT_EQ(record.mapping().id(), names.size());
    names.push_back(record.mapping().name());
  }
  std::vector<std::string> names = {"(none)"};
};

class ResidencyScanTest : public testing::Test {
 protected:
  // Resident pages of the range, as the answer says.
  uint64_t Pages(const char* begin, size_t pages) const {
    const uint64_t from = reinterpret_cast<uint64_t>(begin);
    uint64_t found = 0, last = 0;
    for (const ResidentPages& range : answer_.ranges) {
      EXPECT_LE(last, range.begin);
      EXPECT_LT(range.begin, range.end);
      last = range.end;
      const uint64_t low = std::max(range.begin, from);
      const uint64_t high = std::min(range.end, from + pages * kFixturePage);
      if (low < high) found += (high - low) / kFixturePage;
    }
    return found;
  }

  // Whether the answer has what begins there as a huge page.
  bool HugeThere(const char* at) const {
    const uint64_t address = reinterpret_cast<uint64_t>(at);
    for (const ResidentPages& range : answer_.ranges) {
      if (range.begin <= address && address < range.end) {
        return (range.flags & Residency::HUGE) != 0;
      }
    }
    return false;
  }

  Names names_;
  MappingTable mappings_{getpid(), &names_};
  ResidencyScan scan_{getpid(), kFixturePage, &mappings_};
  ResidencyAnswer answer_;
};

TEST_F(ResidencyScanTest, KnownMemoryIsFoundPageByPage) {
  char* memory = MapFreshPages(100);
  for (int i = 0; i < 40; ++i) memory[i * kFixturePage] = 1;
  volatile char sum = 0;
  for (int i = 60; i < 80; ++i)
    sum = sum + memory[i * kFixturePage];  // zeros, read
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  EXPECT_EQ(Pages(memory, 40), 40u);
  EXPECT_EQ(Pages(memory + 40 * kFixturePage, 20), 0u);
  EXPECT_GT(answer_.end_ns, answer_.begin_ns);
  madvise(memory, 10 * kFixturePage, MADV_DONTNEED);
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  EXPECT_EQ(Pages(memory, 40), 30u);
  munmap(memory, 100 * kFixturePage);
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  EXPECT_EQ(Pages(memory, 100), 0u);
}

// The kernel may make a huge page of small ones, or the other way round, and
// hide one while it moves it: what is said in between counts where it said the
// same before and after.
TEST_F(ResidencyScanTest, AHugePageIsToldFromSmallOnes) {
  const uint64_t kHuge = HugePageBytes(kFixturePage),
                 kPages = kHuge / kFixturePage;
  char* memory =
      static_cast<char*>(mmap(nullptr, 3 * kHuge, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const uint64_t begin =
      (reinterpret_cast<uint64_t>(memory) + kHuge - 1) & ~(kHuge - 1);
  char* small = reinterpret_cast<char*>(begin);
  char* large = small + kHuge;
  madvise(small, kHuge, MADV_NOHUGEPAGE);
  madvise(large, kHuge, MADV_HUGEPAGE);
  small[0] = large[0] = 1;
  EXPECT_NE(scan_.IsHuge(begin), true);
  EXPECT_NE(scan_.IsHuge(begin + kFixturePage), true);  // not there
  bool agrees = false;
  for (int tries = 0; tries < 1000 && !agrees; ++tries) {
    ASSERT_TRUE(scan_.Read([] {}, &answer_));
    const uint64_t before = Pages(large, kPages);
    const absl::optional<bool> huge =
        scan_.IsHuge(begin + kHuge + 5 * kFixturePage);
    ASSERT_TRUE(scan_.Read([] {}, &answer_));
    agrees = before == Pages(large, kPages) &&
             (huge == true) == (before == kPages && HugeThere(large));
  }
  EXPECT_TRUE(agrees);
  munmap(memory, 3 * kHuge);
}

TEST_F(ResidencyScanTest, WhatIsIncludedIsThereOnce) {
  answer_.ranges = {{20 * kFixturePage, 22 * kFixturePage, 1, 0},
                    {24 * kFixturePage, 25 * kFixturePage, 1, 0},
                    {40 * kFixturePage, 50 * kFixturePage, 1, 0}};
  const auto spans = [this] {
    std::vector<std::pair<uint64_t, uint64_t>> spans;
    for (const ResidentPages& range : answer_.ranges) {
      spans.emplace_back(range.begin / kFixturePage, range.end / kFixturePage);
    }
    return spans;
  };
  answer_.Include({20 * kFixturePage, 21 * kFixturePage, 2, 0});
  answer_.Include({45 * kFixturePage, 48 * kFixturePage, 2, 0});
  EXPECT_EQ(answer_.ranges.size(), 3u);
  answer_.Include({30 * kFixturePage, 31 * kFixturePage, 2, 0});
  answer_.Include({18 * kFixturePage, 28 * kFixturePage, 2, 0});
  answer_.Include({49 * kFixturePage, 60 * kFixturePage, 2, 0});
  using Spans = std::vector<std::pair<uint64_t, uint64_t>>;
  EXPECT_EQ(spans(), (Spans{{18, 20},
                            {20, 22},
                            {22, 24},
                            {24, 25},
                            {25, 28},
                            {30, 31},
                            {40, 50},
                            {50, 60}}));
}

TEST_F(ResidencyScanTest, PagesOfAFileAroundOneAreFound) {
  FILE* file = tmpfile();
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(ftruncate(fileno(file), 64 * kFixturePage), 0);
  char* memory = static_cast<char*>(
      mmap(nullptr, 64 * kFixturePage, PROT_READ, MAP_SHARED, fileno(file), 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, 64 * kFixturePage, MADV_RANDOM);
  const uint64_t begin =
      (reinterpret_cast<uint64_t>(memory) + 0xffff) & ~uint64_t{0xffff};
  volatile char sum = 0;
  for (const uint64_t page : {0, 1, 5}) {
    sum = sum + *reinterpret_cast<const char*>(begin + page * kFixturePage);
  }
  const PageRegion found = scan_.FilePagesAround(begin + 5 * kFixturePage);
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  if (found.end != found.begin) {  // else there is no PAGEMAP_SCAN
    const auto* const at = reinterpret_cast<const char*>(found.begin);
    const uint64_t pages = (found.end - found.begin) / kFixturePage;
    EXPECT_LE(found.begin, begin + 5 * kFixturePage);
    EXPECT_GT(found.end, begin + 5 * kFixturePage);
    EXPECT_EQ(Pages(at, pages), pages);
    EXPECT_LT(Pages(at - kFixturePage, pages + 2), pages + 2);
  }
  EXPECT_EQ(scan_.FilePagesAround(begin + 40 * kFixturePage).end,
            0u);  // not there
  sum = sum + *reinterpret_cast<const char*>(begin + 40 * kFixturePage);
  EXPECT_EQ(scan_.FilePagesAround(begin + 40 * kFixturePage).end,
            0u);  // not asked
  scan_.LookAnew();
  const bool is_there =
      scan_.FilePagesAround(begin + 40 * kFixturePage).end != 0;
  EXPECT_EQ(is_there, found.end != found.begin);
  munmap(memory, 64 * kFixturePage);
  fclose(file);
}

// Mappings of any size are walked in pieces; nothing falls between two.
TEST_F(ResidencyScanTest, LargeMappingsAreWalkedInPieces) {
  const size_t pages = (size_t{1} << 38) / kFixturePage;
  char* memory = static_cast<char*>(
      mmap(nullptr, pages * kFixturePage, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * kFixturePage, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < 1000; ++i) memory[(i * 67108864 + i * 131) * 3] = 1;
  int calls = 0;
  ASSERT_TRUE(scan_.Read([&] { ++calls; }, &answer_));
  EXPECT_EQ(Pages(memory, pages), 1000u);
  EXPECT_GT(calls, 1000);
  munmap(memory, pages * kFixturePage);
}

// What the rings say during a scan can name mappings that are new.
TEST_F(ResidencyScanTest, MappingsMayChangeMeanwhile) {
  const size_t pages = (size_t{1} << 36) / kFixturePage;
  char* memory = static_cast<char*>(
      mmap(nullptr, pages * kFixturePage, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  madvise(memory, pages * kFixturePage, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < 1000; ++i) memory[i * 67108864] = 1;
  std::string others;
  for (int i = 1; i <= 10000; ++i) {
    absl::StrAppend(&others, absl::Hex(2 * i * kFixturePage), "-",
                    absl::Hex((2 * i + 1) * kFixturePage),
                    " rw-p 00000000 00:00 0\n");
  }
  int calls = 0;
  ASSERT_TRUE(scan_.Read(
      [&] {
        if (++calls == 1) mappings_.Parse(others);
      },
      &answer_));
  EXPECT_GT(calls, 1);
  EXPECT_EQ(Pages(memory, pages), 1000u);
  EXPECT_EQ(mappings_.mappings().size(), 10000u);
  munmap(memory, pages * kFixturePage);
}

TEST_F(ResidencyScanTest, PagesOfZerosAreNotCountedWhereTheKernelTells) {
  char* memory = MapFreshPages(100);
  volatile char sum = 0;
  for (int i = 60; i < 80; ++i) sum = sum + memory[i * kFixturePage];
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  const uint64_t zeros = Pages(memory + 60 * kFixturePage, 20);
  if (zeros == 20) GTEST_SKIP() << "this kernel has no PAGEMAP_SCAN";
  EXPECT_EQ(zeros, 0u);
  munmap(memory, 100 * kFixturePage);
}

TEST_F(ResidencyScanTest, AnOlderKernelTellsTheSameButForZeros) {
  char* memory = MapFreshPages(20000);
  for (int i = 0; i < 20000; i += 3) memory[i * kFixturePage] = 1;
  scan_.UseEntries();
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  EXPECT_EQ(Pages(memory, 20000), 6667u);
  munmap(memory, 20000 * kFixturePage);
}

TEST_F(ResidencyScanTest, TheSumIsAboutRss) {
  char* memory = MapFreshPages(5000);
  for (int i = 0; i < 5000; ++i) memory[i * kFixturePage] = 1;
  ASSERT_TRUE(scan_.Read([] {}, &answer_));
  uint64_t bytes = 0;
  bool file_backed = false;
  for (const ResidentPages& range : answer_.ranges) {
    bytes += range.end - range.begin;
    file_backed = file_backed || (range.flags & Residency::FILE_BACKED) != 0;
    EXPECT_LT(range.mapping, names_.names.size());
  }
  EXPECT_TRUE(file_backed);
  // statm is the sum of counters that lag by some pages on each CPU.
  EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(scan_.RssBytes()),
              2e6);
  munmap(memory, 5000 * kFixturePage);
}

TEST_F(ResidencyScanTest, AProcessThatIsGoneGivesNoAnswer) {
  MappingTable mappings(0, &names_);
  ResidencyScan scan(0, kFixturePage, &mappings);
  EXPECT_FALSE(scan.Read([] {}, &answer_));
  EXPECT_EQ(scan.RssBytes(), 0u);
}

// One that was told what came and left.
ResidencySchedule With(ResidencySchedule schedule, uint64_t came_bytes,
                       uint64_t left_bytes) {
  schedule.Came(came_bytes);
  schedule.Left(left_bytes);
  return schedule;
}

TEST(ResidencySchedule, AsksSoonWhenRssIsNotExplained) {
  ResidencySchedule schedule;
  EXPECT_TRUE(schedule.IsDue(1, 10 * kMiB));
  schedule.Asked(0, kMs / 10, kMs / 10, 10 * kMiB, 300);
  EXPECT_FALSE(schedule.IsDue(10 * kMs, 90 * kMiB));  // too early
  EXPECT_TRUE(schedule.IsDue(25 * kMs, 90 * kMiB));
  EXPECT_FALSE(With(schedule, 80 * kMiB, 0).IsDue(25 * kMs, 90 * kMiB));
  EXPECT_TRUE(schedule.IsDue(25 * kMs, 2 * kMiB));
  EXPECT_FALSE(With(schedule, 0, 9 * kMiB).IsDue(25 * kMs, 2 * kMiB));
  // Regularly where anything moved, else never.
  EXPECT_TRUE(With(schedule, 4096, 0).IsDue(250 * kMs, 10 * kMiB));
  EXPECT_TRUE(schedule.IsDue(250 * kMs, 10 * kMiB + 4096));
  EXPECT_FALSE(schedule.IsDue(9000 * kMs, 10 * kMiB));
}

TEST(ResidencySchedule, CostsAtMostATwentieth) {
  ResidencySchedule schedule;
  schedule.Asked(0, 30 * kMs, 30 * kMs, 10 * kMiB, 300);
  EXPECT_FALSE(schedule.IsDue(620 * kMs, 900 * kMiB));
  EXPECT_TRUE(schedule.IsDue(631 * kMs, 900 * kMiB));
  // It waited for a CPU most of that time.
  schedule.Asked(0, 30 * kMs, 2 * kMs, 10 * kMiB, 300);
  EXPECT_FALSE(schedule.IsDue(69 * kMs, 900 * kMiB));
  EXPECT_TRUE(schedule.IsDue(71 * kMs, 900 * kMiB));
  schedule.Asked(0, kMs, kMs, 10 * kMiB, 200000);  // a large record
  EXPECT_FALSE(schedule.IsDue(999 * kMs, 900 * kMiB));
  EXPECT_TRUE(schedule.IsDue(1002 * kMs, 900 * kMiB));
}

}  // namespace
}  // namespace pymemrun
