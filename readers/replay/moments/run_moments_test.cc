#include "readers/replay/moments/run_moments.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/records/record_visitor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/replay/moments/reading_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

ReadRun Reading(const std::string& bytes) {
  return OneByOne(
      [&bytes](ReplayVisitor* visitor) { return ReadInto(bytes, visitor); });
}

// A run as its records are added.
class RunMomentsTest : public ::testing::Test {
 protected:
  void Begin(HeapMode heap, bool calls = true) {
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(heap);
    header.set_calls_off(!calls);
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 4711);
    const uint32_t code = builder_.AddCode("/job.py", "<module>", 1);
    site_ = builder_.AddSite(CALL, code, 3);
    builder_.AddStack(0, code, 7);
  }
  // With page events and heap events.
  void BeginPages(HeapMode heap = HEAP_ALL) {
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(heap);
    header.set_page_period(1);
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 4711);
    builder_.AddMapping("[heap]");
  }
  void AddRow(uint64_t number, uint64_t time_us, uint64_t rss_mib) {
    builder_.AddRow(MakeRow(number, time_us, site_, rss_mib * kMiB, 0));
  }
  void AddSample(uint64_t time_us, uint64_t rss_mib, uint64_t hwm_mib) {
    builder_.AddProcess(time_us, rss_mib * kMiB, hwm_mib * kMiB);
  }
  // A run with all blocks whose pages are scanned; mapping 1 is [heap].
  void BeginScanned() {
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(HEAP_ALL);
    header.set_page_scan(true);
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 4711);
    builder_.AddMapping("[heap]");
  }
  void AddFooter(uint64_t end_us, uint64_t hwm_mib, uint64_t finalize_us = 0) {
    Record record;
    if (finalize_us != 0) {
      record.mutable_footer()->set_finalize(Footer::FINALIZED);
      record.mutable_footer()->set_finalize_us(finalize_us);
    }
    record.mutable_footer()->set_end(Footer::EXIT);
    record.mutable_footer()->set_end_us(end_us);
    record.mutable_footer()->set_hwm_bytes(hwm_mib * kMiB);
    builder_.AddRecord(record);
  }
  FoundMoment Find(absl::string_view text) {
    const auto found = TryFind(text);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.ok() ? *found : FoundMoment();
  }
  absl::StatusOr<FoundMoment> TryFind(absl::string_view text) {
    builder_.Flush();
    const ReadRun read = Reading(sink_.contents());
    moments_ = RunMoments::Of(read);
    return moments_->Find(*ParseMoment(text), read);
  }
  HeapMoment FindInHeap(absl::string_view text) {
    builder_.Flush();
    return *FindHeapMoment(*ParseMoment(text), Reading(sink_.contents()));
  }

  StringSink sink_;
  RunBuilder builder_{&sink_};
  std::unique_ptr<RunMoments> moments_;
  uint32_t site_ = 0;
};

// Scans found 20 MiB, and VmHWM rose to 60 MiB between two of them.
TEST_F(RunMomentsTest, APeakBetweenTwoScansIsWhereMostWasAlive) {
  BeginScanned();
  const std::vector<ResidentRange> pages = {{100, 5120, 1, false, false}};
  builder_.AddResidency(10, 20, 20 * kMiB, pages);
  builder_.AddResidency(10000, 10001, 20 * kMiB, pages);
  AddSample(11000, 20, 20);
  builder_.AddHeap({AllocEvent(15000, 0x100000000, 40 * kMiB, 0),
                    FreeEvent(16000, 0x100000000)});
  builder_.AddResidency(20000, 20001, 20 * kMiB, pages);
  AddSample(21000, 20, 60);
  AddFooter(30000, 60);
  const FoundMoment found = Find("peak");
  EXPECT_EQ(found.time_us, 15999u);  // its pages may have come until then
  EXPECT_EQ(found.name, "about the peak of RSS");
  EXPECT_EQ(moments_->PeakBytes(), 60 * kMiB);
}

// VmHWM rose after the scan, and before the block was freed.
TEST_F(RunMomentsTest, APeakAfterTheHighestScanIsWhereMostWasAlive) {
  BeginScanned();
  const std::vector<ResidentRange> few = {{100, 10, 1, false, false}};
  const std::vector<ResidentRange> more = {{100, 5120, 1, false, false}};
  builder_.AddResidency(10, 20, 1 * kMiB, few);
  builder_.AddHeap({AllocEvent(5000, 0x100000000, 40 * kMiB, 0)});
  builder_.AddResidency(10000, 10001, 20 * kMiB, more);
  AddSample(11000, 20, 20);
  builder_.AddHeap({FreeEvent(16000, 0x100000000)});
  Record record;
  record.mutable_peak()->set_hwm_bytes(40 * kMiB);
  record.mutable_peak()->set_time_us(16000);
  builder_.AddRecord(record);
  AddSample(21000, 1, 40);
  AddFooter(30000, 40);
  EXPECT_EQ(Find("peak").time_us, 15999u);
  EXPECT_EQ(moments_->RssPeak().name, "about the peak of RSS");
}

TEST_F(RunMomentsTest, AScanAtThePeakTellsIt) {
  BeginScanned();
  const std::vector<ResidentRange> few = {{100, 10, 1, false, false}};
  const std::vector<ResidentRange> many = {{100, 5120, 1, false, false}};
  builder_.AddResidency(10, 20, 1 * kMiB, few);
  builder_.AddHeap({AllocEvent(5000, 0x100000000, 40 * kMiB, 0)});
  builder_.AddResidency(10000, 10001, 20 * kMiB, many);
  AddSample(21000, 19, 20);
  AddFooter(30000, 20);
  const FoundMoment found = Find("peak");
  EXPECT_EQ(found.time_us, 10001u);
  EXPECT_EQ(found.name, "the peak of RSS");
}

// More blocks were alive before, when the file was not mapped yet.
TEST_F(RunMomentsTest, AScanThatFoundAFileTellsMore) {
  BeginScanned();
  builder_.AddMapping("/data");
  const ResidentRange heap = {100, 5120, 1, false, false};
  builder_.AddResidency(10, 20, 20 * kMiB, {heap});
  builder_.AddHeap({AllocEvent(5000, 0x100000000, 15 * kMiB, 0),
                    FreeEvent(6000, 0x100000000)});
  builder_.AddResidency(10000, 10001, 60 * kMiB,
                        {heap, {10000, 10240, 2, true, false}});
  builder_.AddResidency(10002, 10002, 20 * kMiB, {heap});
  AddSample(21000, 20, 60);
  AddFooter(30000, 60);
  EXPECT_EQ(Find("peak").time_us, 10001u);
}

// A scan while the list is freed, when RSS is what it was: most was alive
// before.
TEST_F(RunMomentsTest, AScanAfterMostWasFreedTellsLess) {
  BeginScanned();
  const uint32_t code = builder_.AddCode("/job.py", "<module>", 1);
  site_ = builder_.AddSite(CALL, code, 3);
  builder_.AddResidency(10, 20, 1 * kMiB, {{100, 10, 1, false, false}});
  AddRow(1, 4000, 1);
  builder_.AddHeap({AllocEvent(5000, 0x100000000, 40 * kMiB, 0)});
  AddRow(2, 8000, 42);
  builder_.AddHeap({FreeEvent(9000, 0x100000000)});
  builder_.AddResidency(10000, 10001, 42 * kMiB,
                        {{100, 10752, 1, false, false}});
  AddRow(3, 11000, 9);
  AddFooter(30000, 42);
  EXPECT_EQ(Find("peak").time_us, 8999u);
  EXPECT_EQ(moments_->RssPeak().name, "the peak of RSS");
}

TEST_F(RunMomentsTest, PageEventsTellThePeak) {
  const std::string bytes = PageEventsRun().Build();
  const auto moments = RunMoments::Of(Reading(bytes));
  EXPECT_EQ(moments->RssPeak().time_us, moments->peak_us());
  EXPECT_EQ(moments->RssPeak().name, "the peak of RSS");
  EXPECT_EQ(moments->PeakBytes(), 100 * PageEventsRun::kPage);
}

// RSS is equal, as far as it is known, and most was alive at 5 ms.
TEST_F(RunMomentsTest, OfEqualMomentsThatWithMostAliveIsThePeak) {
  BeginPages();
  builder_.AddResidency(10, 20, 20 * kMiB, {{100, 5120, 1, false, false}});
  builder_.AddHeap({AllocEvent(5000, 16, kMiB, 0), FreeEvent(6000, 16),
                    AllocEvent(8000, 16, 8 * kMiB, 0)});
  builder_.AddResidency(10000, 10001, 20 * kMiB + 4096,
                        {{100, 5121, 1, false, false}});
  AddSample(10002, 20, 20);
  AddFooter(12000, 20, /*finalize_us=*/7000);
  EXPECT_EQ(Find("peak").time_us, 5999u);
  EXPECT_EQ(moments_->RssPeak().name, "the peak of RSS");
}

// What was 400 KiB lower is equal too, unless as much was alive then.
TEST_F(RunMomentsTest, OfEqualMomentsWithAsMuchAliveTheHighestIsThePeak) {
  BeginPages();
  builder_.AddResidency(10, 20, 20 * kMiB, {{100, 5120, 1, false, false}});
  builder_.AddHeap({AllocEvent(4000, 16, kMiB, 0)});
  builder_.AddPages({RangeEntry(5000, PAGES_POPULATED, 6000, 100)});
  AddFooter(12000, 21, /*finalize_us=*/7000);
  EXPECT_EQ(Find("peak").time_us, 7000u);
}

// However much samples may stray: what went had been there.
TEST_F(RunMomentsTest, OfSampledBlocksThoseThatWentCountAsWell) {
  BeginPages(HEAP_SAMPLED);
  Record rates;
  rates.mutable_heap_rates()->set_mean_bytes(512 << 10);
  builder_.AddRecord(rates);
  builder_.AddResidency(10, 20, 20 * kMiB, {{100, 5120, 1, false, false}});
  std::vector<HeapEvent> events;
  for (uint64_t i = 1; i <= 100; ++i) {
    events.push_back(AllocEvent(1000 + i, 16 * i, 700, 0));
  }
  for (uint64_t i = 1; i <= 100; ++i) {
    events.push_back(FreeEvent(1990 + 10 * i, 16 * i));
  }
  builder_.AddHeap(events);
  PageEntry filled = RangeEntry(1500, PAGES_POPULATED, 6000, 10240);
  filled.stack = builder_.AddStack(0, builder_.AddCode("/job.py", "f", 1), 7);
  builder_.AddPages({filled});
  // All is known of a moment when 16 of them had gone.
  builder_.AddResidency(2155, 2155, 60 * kMiB,
                        {{100, 5120, 1}, {6000, 10240, 1}});
  AddFooter(12000, 60, /*finalize_us=*/7000);
  EXPECT_LT(Find("peak").time_us, 2050u);
}

// That of finalization is the only one that was so high.
TEST_F(RunMomentsTest, AHigherPeakAfterTheProgramsEndIsThePeak) {
  BeginPages();
  builder_.AddResidency(10, 20, 20 * kMiB, {{100, 5120, 1, false, false}});
  builder_.AddHeap({AllocEvent(4000, 16, kMiB, 0), FreeEvent(7500, 16)});
  builder_.AddResidency(9000, 9001, 40 * kMiB, {{100, 10240, 1, false, false}});
  AddFooter(12000, 40, /*finalize_us=*/7000);
  EXPECT_EQ(Find("peak").time_us, 9001u);
}

TEST_F(RunMomentsTest, TheRowOrSampleWithTheHighestRssIsThePeak) {
  Begin(HEAP_OFF);
  AddRow(0, 100, 9);
  AddRow(1, 300, 40);
  AddRow(2, 500, 20);
  AddSample(250, 39, 39);
  EXPECT_EQ(Find("peak").Text(), "the peak of RSS, 0.000 s");
  EXPECT_EQ(moments_->RssPeak().time_us, 300u);
  AddSample(600, 41, 41);
  EXPECT_EQ(Find("peak").time_us, 600u);
  EXPECT_EQ(moments_->PeakBytes(), 41 * kMiB);
}

TEST_F(RunMomentsTest, AHigherVmHwmBetweenTwoEventsIsThePeak) {
  Begin(HEAP_OFF);
  AddRow(0, 100, 9);
  Record record;
  record.mutable_peak()->set_hwm_bytes(80 * kMiB);
  record.mutable_peak()->set_time_us(150);
  builder_.Flush();
  builder_.AddRecord(record);
  AddRow(1, 200, 20);
  AddFooter(300, 80);
  EXPECT_EQ(Find("peak").time_us, 150u);
  EXPECT_EQ(moments_->PeakBytes(), 80 * kMiB);
}

TEST_F(RunMomentsTest, BetweenTwoSamplesTheHeapTellsThePeak) {
  Begin(HEAP_ALL, /*calls=*/false);
  AddSample(0, 10, 10);
  builder_.AddHeap({AllocEvent(400, 16, 50 * kMiB, 1), FreeEvent(500, 16)});
  AddSample(1000, 12, 60);
  AddSample(2000, 13, 60);
  EXPECT_EQ(Find("peak").time_us, 499u);
  EXPECT_EQ(moments_->RssPeak().name, "about the peak of RSS");
  EXPECT_EQ(moments_->PeakBytes(), 60 * kMiB);
}

// RSS had fallen by then. Nothing of the block can have been touched.
TEST_F(RunMomentsTest, WhatCameAfterRssFellIsNotThePeak) {
  Begin(HEAP_ALL, /*calls=*/false);
  AddSample(0, 10, 10);
  builder_.AddHeap({AllocEvent(400, 16, 50 * kMiB, 1), FreeEvent(500, 16),
                    AllocEvent(600, 16, 90 * kMiB, 1)});
  AddSample(1000, 12, 60);
  EXPECT_EQ(Find("peak").time_us, 499u);
}

TEST_F(RunMomentsTest, AHeapPeakElsewhereIsNotThePeak) {
  Begin(HEAP_ALL, /*calls=*/false);
  AddSample(0, 10, 10);
  AddSample(1000, 12, 60);
  builder_.AddHeap({AllocEvent(1400, 16, 3 * kMiB, 1), FreeEvent(1500, 16)});
  AddSample(2000, 13, 60);
  EXPECT_EQ(Find("peak").time_us, 1000u);  // VmHWM was read
  EXPECT_EQ(moments_->RssPeak().name, "about the peak of RSS");
}

TEST_F(RunMomentsTest, WithoutAnyReadingLiveBytesStandIn) {
  Begin(HEAP_ALL, /*calls=*/false);
  builder_.AddHeap({AllocEvent(400, 16, 50, 1), FreeEvent(500, 16)});
  EXPECT_EQ(Find("peak").Text(),
            "the peak of live bytes (RSS was not read), 0.000 s");
  EXPECT_EQ(moments_->RssPeak().time_us, 400u);
}

TEST_F(RunMomentsTest, TheProgramsEndIsBeforeFinalization) {
  Begin(HEAP_OFF);
  AddRow(0, 100, 9);
  Record record;
  record.mutable_footer()->set_end_us(5000);
  record.mutable_footer()->set_finalize(Footer::FINALIZED);
  record.mutable_footer()->set_finalize_us(4000);
  builder_.Flush();
  builder_.AddRecord(record);
  EXPECT_EQ(Find("end").time_us, 4000u);
  EXPECT_EQ(Find("end").UntilUs(), 4000u);
  EXPECT_EQ(Find("exit").time_us, 5000u);
  EXPECT_EQ(Find("exit").UntilUs(), ReplayVisitor::kEnd);
  EXPECT_EQ(FindInHeap("exit").kind, HeapMoment::kEnd);
  EXPECT_EQ(FindInHeap("end").time_us, 4000u);
  EXPECT_EQ(FindInHeap("end").name, "the program's end");
}

TEST_F(RunMomentsTest, WithoutAFooterTheProgramsLastAllocationIsItsEnd) {
  Begin(HEAP_ALL);
  builder_.AddHeap({AllocEvent(400, 16, 50, 1), FreeEvent(500, 16)});
  EXPECT_EQ(Find("end").time_us, 400u);
  EXPECT_EQ(Find("exit").time_us, 500u);
}

TEST_F(RunMomentsTest, SharesAndTimesAreWithinTheRun) {
  Begin(HEAP_OFF);
  AddRow(0, 100, 9);
  AddFooter(4000400, 9);
  EXPECT_EQ(Find("50%").time_us, 2000200u);
  EXPECT_EQ(Find("50%").Text(), "50 % of the run, 2.000 s");
  EXPECT_TRUE(Find("100%").is_last);
  EXPECT_EQ(Find("1500ms").Text(), "1.500 s");
  // As reports write it.
  EXPECT_EQ(Find("4.0004").time_us, 4000400u);
  EXPECT_EQ(Find("4.00045").time_us, 4000400u);
  EXPECT_EQ(TryFind("99").status().message(),
            "99.000 s is after the run's end, 4.000 s");
}

TEST_F(RunMomentsTest, MarksAreFoundByLabel) {
  Begin(HEAP_OFF);
  builder_.AddMark(100, 1, 1, "loaded", 0);
  builder_.AddMark(200, 1, 1, "stored\x1b", 0);
  builder_.AddMark(300, 1, 1, "loaded", 0);
  EXPECT_EQ(Find("mark:stored\x1b").Text(), "mark 'stored\\x1b', 0.000 s");
  EXPECT_EQ(Find("loaded").time_us, 100u);
  EXPECT_EQ(Find("loaded").name, "the first of 2 marks 'loaded'");
  EXPECT_THAT(TryFind("laoded").status().message(),
              HasSubstr("found 'laoded'; did you mean loaded?"));
  EXPECT_EQ(TryFind("noon").status().message(),
            "expected peak, heap-peak, end, exit, a time such as 1.5, 1500ms "
            "or 50%, or a mark's label, found 'noon'; marks of the run: "
            "'loaded', 'stored\\x1b'");
}

TEST_F(RunMomentsTest, ARunWithoutMarksOrHeapSaysSo) {
  Begin(HEAP_OFF);
  EXPECT_THAT(TryFind("noon").status().message(),
              HasSubstr("; the run has no marks"));
  EXPECT_EQ(TryFind("heap-peak").status().message(),
            "heap-peak: the run has no heap events");
}

TEST_F(RunMomentsTest, TheHeapsPeakIsThatOfLiveBytes) {
  Begin(HEAP_ALL);
  AddRow(0, 100, 9);
  builder_.Flush();
  builder_.AddHeap({AllocEvent(400, 16, 50, 1), FreeEvent(500, 16)});
  EXPECT_EQ(Find("heap-peak").Text(), "the peak of live bytes, 0.000 s");
  EXPECT_EQ(Find("heap-peak").time_us, 400u);
  EXPECT_EQ(FindInHeap("heap-peak").kind, HeapMoment::kPeak);
  EXPECT_EQ(FindInHeap("peak").kind, HeapMoment::kTime);
  EXPECT_EQ(FindInHeap("peak").time_us, 100u);
}

}  // namespace
}  // namespace pymemrun
