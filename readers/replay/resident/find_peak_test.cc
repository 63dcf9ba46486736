#include "readers/replay/resident/find_peak.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "readers/replay/resident/built_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint64_t kHuge = 512;  // pages

TEST(PeakFinderTest, FindsTheMomentOfTheHighestRss) {
  PeakFinder finder;
  ReadInto(PageEventsRun().Build(), &finder);
  EXPECT_EQ(finder.peak_us(), 150290u);  // its last page came
  EXPECT_EQ(finder.peak_bytes(), 100 * kPage);
}

TEST(PeakFinderTest, APeakAtTheVeryEndIsFound) {
  BuiltRun run;
  run.builder.AddPages(CamePages(100, 1, 10, 1));
  EXPECT_EQ(run.Peak(), 190u);
}

TEST(PeakFinderTest, ReadingsOfStatmCount) {
  BuiltRun run;
  run.builder.AddPages(CamePages(100, 1, 10, 1));
  run.builder.AddProcess(1000, 500 * kPage, 500 * kPage);
  run.builder.AddProcess(2000, 10 * kPage, 500 * kPage);
  run.builder.AddPages(CamePages(3000, 100, 20, 1));
  EXPECT_EQ(run.Peak(), 1000u);
}

TEST(PeakFinderTest, PagesWhoseLeavingWasMissedAreNoPeak) {
  BuiltRun run;
  run.builder.AddPages(CamePages(100, 1, 90, 1));
  run.builder.AddProcess(2000, 10 * kPage, 30 * kPage);
  run.builder.AddPages(CamePages(3000, 100, 40, 1));
  run.builder.AddProcess(4000, 50 * kPage, 50 * kPage);
  EXPECT_EQ(run.Peak(), 3390u);
}

TEST(PeakFinderTest, AHigherMomentIsTakenWhereTheMoreIsKnown) {
  BuiltRun run;
  const ResidentRange before = {1, 1000, 1, false, false};
  run.builder.AddResidency(10, 20, 1000 * kPage, {before});
  run.builder.AddPages(CamePages(100, 2000, 5, 1));
  run.builder.AddResidency(2000, 2010, 1006 * kPage,
                           {before, {2000, 5, 1, false, false}});
  EXPECT_EQ(run.Peak(), 2010u);
}

TEST(PeakFinderTest, OfTheMomentsOfAPeakOneIsTakenOfWhichMostIsKnown) {
  BuiltRun run;
  const ResidentRange before = {1, 100, 1, false, false};
  const ResidentRange filled = {1000, 64, 1, false, false};
  run.builder.AddResidency(10, 20, 100 * kPage, {before});
  run.builder.AddResidency(1000, 1010, 164 * kPage, {before, filled});
  // The call that filled memory returns: what it brought is in RSS already.
  run.builder.AddPages(
      {{1500, 1000, 64, 0, 1, 1, 0, 1, PAGES_POPULATED, false}});
  run.builder.AddResidency(2000, 2010, 164 * kPage, {before, filled});
  run.builder.AddProcess(3000, 164 * kPage, 164 * kPage);
  EXPECT_EQ(run.Peak(), 2010u);
}

// Asked a little before the peak, the kernel does not know what came since: at
// the peak itself the faults tell.
TEST(PeakFinderTest, ThePeakStaysWhereAllOfItIsKnown) {
  BuiltRun run;
  const ResidentRange before = {1, 1000, 1, false, false};
  run.builder.AddResidency(10, 20, 1000 * kPage, {before});
  run.builder.AddResidency(1000, 1010, 1005 * kPage, {before});
  run.builder.AddPages(CamePages(1500, 2000, 5, 1));
  run.builder.AddProcess(2000, 1006 * kPage, 1006 * kPage);
  run.builder.AddPages({RangeEntry(2001, PAGES_UNMAPPED, 2000, 5)});
  EXPECT_EQ(run.Peak(), 1540u);
}

// What events made of RSS beyond VmHWM was not there: the answer is better.
TEST(PeakFinderTest, WhatIsAboveVmHwmIsNotKnown) {
  BuiltRun run;
  const ResidentRange before = {1, 1000, 1, false, false};
  const ResidentRange came = {2000, 3, 1, false, false};
  run.builder.AddResidency(10, 20, 1000 * kPage, {before});
  run.builder.AddPages(CamePages(100, 2000, 5, 1));
  run.builder.AddPages({RangeEntry(200, PAGES_UNMAPPED, 2003, 2)});
  run.builder.AddResidency(1000, 1010, 1003 * kPage, {before, came});
  run.builder.AddProcess(2000, 1003 * kPage, 1003 * kPage);
  EXPECT_EQ(run.Peak(), 1010u);
}

// 20 pages are there before. At 100 us the first page of each of four huge
// pages comes. All are unmapped before the kernel is asked.
struct HugeRun {
  std::string mapping = "";
  uint64_t touched_pages = 1;  // of each
  std::vector<uint64_t> begin_us = {100};
  uint64_t hwm_pages = 20 + 4 * kHuge;

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    BeginPageRun(&builder);
    const uint32_t name = builder.AddMapping(mapping);
    builder.AddResidency(10, 20, 20 * kPage, {{1, 20, name, false, false}});
    builder.AddProcess(50, 20 * kPage, 20 * kPage);
    for (const uint64_t time_us : begin_us) {
      for (uint64_t i = 0; i < 4; ++i) {
        auto came = CamePages(time_us + i, (2 + i) * kHuge, touched_pages, 1);
        for (PageEntry& entry : came) entry.mapping = name;
        builder.AddPages(came);
      }
      builder.AddPages(
          {RangeEntry(time_us + 100, PAGES_UNMAPPED, 2 * kHuge, 4 * kHuge)});
    }
    builder.AddProcess(1000, 20 * kPage, hwm_pages * kPage);
    builder.Flush();
    return sink.contents();
  }

  // What had an owner 50 us after the start, and what had none.
  struct Known {
    uint64_t pages;
    int64_t unknown_pages;
  };
  Known KnownAfter(uint64_t begin) const {
    const std::string file = Build();
    const auto finder =
        PeakFinder::Read<PeakFinder>(OneByOne([&file](ReplayVisitor* visitor) {
          StringSource source(file);
          ReadResult result;
          const bool read = ReadStream(&source, {}, visitor, &result).ok();
          visitor->Finish();
          return read;
        }));
    ResidentReplay replay(begin + 50, finder->hindsight());
    ReadInto(file, &replay);
    const ResidentModel& model = replay.model();
    const uint32_t owner = model.pages().At(2 * kHuge + 100).owner;
    EXPECT_EQ(model.owners()[owner].inferred, owner != 0);
    return {model.OwnedBytes() / kPage,
            model.UnattributedBytes() / int64_t{kPage}};
  }
};

TEST(FindPeakTest, HugePagesThatWentUnseenAreInferredFromVmHwm) {
  HugeRun run;
  const auto known = run.KnownAfter(100);
  EXPECT_EQ(known.pages, 20 + 4 * kHuge);
  EXPECT_EQ(known.unknown_pages, 0);
}

// Each time: any of them may have been the peak.
TEST(FindPeakTest, HugePagesThatComeAgainAreInferredAgain) {
  HugeRun run;
  run.begin_us = {100, 300};
  EXPECT_EQ(run.KnownAfter(100).pages, 20 + 4 * kHuge);
  EXPECT_EQ(run.KnownAfter(300).pages, 20 + 4 * kHuge);
}

TEST(FindPeakTest, WithoutVmHwmThereWereNoHugePages) {
  HugeRun run;
  run.hwm_pages = 24;
  EXPECT_EQ(run.KnownAfter(100).pages, 24u);
  // Not all of them were huge, and which is unknown.
  run.hwm_pages = 20 + 2 * kHuge;
  const auto known = run.KnownAfter(100);
  EXPECT_EQ(known.pages, 24u);
  EXPECT_EQ(known.unknown_pages, 2 * int64_t{kHuge} - 4);
}

TEST(FindPeakTest, PagesThatCameOneByOneOrOfFilesAreNotHuge) {
  HugeRun run;
  run.touched_pages = 2;
  EXPECT_EQ(run.KnownAfter(100).pages, 28u);
  run.touched_pages = 1;
  run.mapping = "/data";
  EXPECT_EQ(run.KnownAfter(100).pages, 24u);
}

// 100 bytes came in a call: 10 before the first look, 60 before the second.
TEST(SeenGrowthTest, CountsWithWhatCameWithinASpan) {
  SeenGrowth growth = {.from_us = 100, .to_us = 200, .bytes = 100};
  const RssSpan middle = {120, 170, 1010, 1070};
  EXPECT_EQ(growth.BytesWithin(middle), 50);  // by time alone
  growth.rss_bytes = 1100;
  EXPECT_EQ(growth.BytesWithin(middle), 60);
  EXPECT_EQ(growth.BytesWithin({0, 120, 900, 1010}), 10);
  EXPECT_EQ(growth.BytesWithin({170, 300, 1070, 5000}), 30);
  EXPECT_EQ(growth.BytesWithin({0, 300, 0, 5000}), 100);
  EXPECT_EQ(growth.BytesWithin({200, 300, 1100, 5000}), 0);
  EXPECT_EQ(growth.BytesWithin({120, 170, 1070, 1010}), 0);  // it sank
}

}  // namespace
}  // namespace pymemrun
