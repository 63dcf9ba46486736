#include "readers/replay/resident/resident_replay.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "readers/replay/resident/built_run_for_tests.h"
#include "readers/replay/resident/find_peak.h"
#include "readers/testing/page_run_for_tests.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

uint64_t OwnedPagesAt(uint64_t time_us) {
  ResidentReplay replay(time_us);
  ReadInto(PageEventsRun().Build(), &replay);
  return replay.model().OwnedBytes() / kPage;
}

TEST(ResidentReplayTest, StopsAtTheMoment) {
  EXPECT_EQ(OwnedPagesAt(0), 20u);  // the kernel began to be asked
  EXPECT_EQ(OwnedPagesAt(1000), 20u);
  EXPECT_EQ(OwnedPagesAt(50000), 21u);
  EXPECT_EQ(OwnedPagesAt(50009), 21u);
  EXPECT_EQ(OwnedPagesAt(50010), 22u);
  EXPECT_EQ(OwnedPagesAt(399999), 100u);
  EXPECT_EQ(OwnedPagesAt(400000), 60u);
  EXPECT_EQ(OwnedPagesAt(ResidentReplay::kEnd), 60u);
}

TEST(ResidentReplayTest, KnowsWhatTheRunIs) {
  ResidentReplay replay;
  ReadInto(PageEventsRun().Build(), &replay);
  EXPECT_TRUE(replay.has_page_events());
  EXPECT_EQ(replay.last_us(), 600000u);
  EXPECT_EQ(replay.model().UnattributedBytes(), int64_t{kPage});
}

// Where the kernel could not be asked, nothing is known of pages.
TEST(ResidentReplayTest, AScanThatNeverCameTellsNothing) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_scan(true);
  builder.AddHeader(header);
  builder.Flush();
  ResidentReplay replay;
  ReadInto(sink.contents(), &replay);
  EXPECT_FALSE(replay.has_page_events());
}

// The interpreter's start brought them, while pages were already recorded.
TEST(ResidentReplayTest, WhatCameAtTimeZeroWasThereBeforeTracing) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder, 0);
  builder.AddMapping("");
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 4);
  PageEntry start = RangeEntry(0, PAGES_POPULATED, 2000, 3);
  start.stack = stack;
  builder.AddPages({CamePages(0, 1000, 1, stack)[0], start,
                    CamePages(1, 1001, 1, stack)[0]});
  builder.Flush();
  ResidentReplay replay;
  ReadInto(sink.contents(), &replay);
  const ResidentModel& model = replay.model();
  uint64_t before = 0, others = 0;
  for (uint32_t id = 1; id < model.owners().size(); ++id) {
    (model.owners()[id].before_tracing() ? before : others) +=
        model.PagesOf(id);
  }
  EXPECT_EQ(before, 4u);
  EXPECT_EQ(others, 1u);
}

TEST(ResidentReplayTest, TheNextResidencyTellsOfPagesThatCameSince) {
  ResidentReplay replay(200000);
  ReadInto(PageEventsRun().Build(), &replay);
  EXPECT_EQ(replay.model().ranges().size(), 1u);
  EXPECT_EQ(replay.later_ranges().size(), 3u);
}

TEST(ResidentReplayTest, AReadingAppliesToItsOwnMoment) {
  BuiltRun run;
  run.builder.AddProcess(150, 100 * kPage, 100 * kPage);  // 6 pages are there
  run.builder.AddPages(CamePages(100, 1, 10, 1));
  run.builder.Flush();
  ResidentReplay replay;
  ReadInto(run.sink.contents(), &replay);
  EXPECT_EQ(replay.model().RssBytes(), 104 * kPage);
}

// It died before RSS could be read again.
TEST(ResidentReplayTest, AProgramMayHaveGrownSinceRssWasReadLast) {
  BuiltRun run;
  run.builder.AddPages(CamePages(100, 1, 10, 1));
  run.builder.AddProcess(1000, 10 * kPage, 12 * kPage);
  run.builder.AddPages(CamePages(2000, 50, 30, 1));
  run.builder.AddProcess(3000, 0, 12 * kPage);
  EXPECT_EQ(run.Peak(), 2290u);
  PeakFinder finder;
  ReadInto(run.sink.contents(), &finder);
  EXPECT_EQ(finder.hindsight().most_rss_bytes, 12 * kPage);
  ResidentReplay replay(ResidentReplay::kEnd, finder.hindsight());
  ReadInto(run.sink.contents(), &replay);
  EXPECT_EQ(replay.model().RssBytes(), 40 * kPage);
  EXPECT_EQ(replay.model().UnattributedBytes(), 0);
}

// Such as a driver brings: they are part of their mapping until one is touched.
TEST(ResidentReplayTest, PagesOfAFileThatNobodyBroughtAreOfTheirMapping) {
  BuiltRun run;
  run.builder.AddMapping("/dev/driver");
  const ResidentRange before = {1, 10, 1, false, false};
  run.builder.AddResidency(10, 20, 10 * kPage, {before});
  run.builder.AddResidency(1000, 1010, 30 * kPage,
                           {before, {1000, 20, 2, true, false}});
  run.builder.AddPages(CamePages(2000, 1019, 1, 1));
  run.builder.AddResidency(3000, 3010, 30 * kPage,
                           {before, {1000, 20, 2, true, false}});
  run.builder.Flush();
  ResidentReplay replay;
  ReadInto(run.sink.contents(), &replay);
  const ResidentModel& model = replay.model();
  EXPECT_EQ(model.UnattributedBytes(), 0);
  EXPECT_TRUE(model.Unowned().empty());
  const auto owner = [&model](uint64_t page) {
    return model.owners()[model.pages().At(page).owner];
  };
  EXPECT_TRUE(owner(1018).by_scan);
  EXPECT_EQ(owner(1018).mapping, 2u);
  EXPECT_EQ(owner(1019).stack, 1u);
}

TEST(ResidentReplayTest, RssBeginsWithTheHeaders) {
  BuiltRun run(30 * kPage);
  run.builder.AddPages(CamePages(0, 1, 1, 1));  // is in it
  run.builder.AddPages(CamePages(100, 2, 10, 1));
  run.builder.Flush();
  ResidentReplay replay;
  ReadInto(run.sink.contents(), &replay);
  EXPECT_EQ(replay.model().RssBytes(), 40 * kPage);
}

TEST(ResidentReplayTest, AReadingThatComesMuchTooLateIsPassedOver) {
  BuiltRun run;
  run.builder.AddPages(CamePages(100, 1, 10, 1));
  run.builder.AddPages(CamePages(900000, 50, 10, 1));
  run.builder.AddProcess(150, 5 * kPage, 5 * kPage);
  run.builder.Flush();
  ResidentReplay replay;
  ReadInto(run.sink.contents(), &replay);
  EXPECT_EQ(replay.model().RssBytes(), 20 * kPage);
}

// Else each further answer would take away what is as old as that.
TEST(ResidentReplayTest, WhatStandsBehindAnAnswerCameNoEarlier) {
  BuiltRun run;
  run.builder.AddResidency(0, 1, 0, {{1, 1, 1, false, false}});
  run.builder.AddPages(CamePages(1000, 50, 1, 1));
  run.builder.AddPages({RangeEntry(10, PAGES_POPULATED, 40, 20)});
  run.builder.AddResidency(500, 600, 0, {{1, 1, 1, false, false}});
  run.builder.Flush();
  ResidentReplay replay;
  ReadInto(run.sink.contents(), &replay);
  EXPECT_EQ(replay.model().pages().Covered(40, 60), 20u);
}

// The kernel's answers, of a run of its own: a page comes at 100 us, in a block
// of 2 MiB that is found whole at 2,000 us.
struct LateRun : BuiltRun {
  explicit LateRun(bool marked_huge, uint64_t fault_page = 1024)
      : huge{1024, 512, 1, false, marked_huge} {
    builder.AddResidency(10, 20, 10 * kPage, {before});
    builder.AddPages(CamePages(100, fault_page, 1, 1));
  }
  std::unique_ptr<ResidentReplay> At(uint64_t time_us) {
    PeakFinder finder;
    ReadInto(sink.contents(), &finder);
    auto replay = std::make_unique<ResidentReplay>(time_us, finder.hindsight());
    ReadInto(sink.contents(), replay.get());
    return replay;
  }
  ResidentRange before = {1, 10, 1, false, false};
  ResidentRange huge;
};

uint64_t OwnedPages(const ResidentReplay& replay) {
  return replay.model().OwnedBytes() / kPage;
}

TEST(HindsightTest, AHugePageIsThereFromItsFaultOn) {
  for (const bool marked : {true, false}) {  // as older kernels do not
    LateRun run(marked, 1024 + 77);
    run.builder.AddProcess(1000, 522 * kPage, 522 * kPage);
    run.builder.AddResidency(2000, 2010, 522 * kPage, {run.before, run.huge});
    run.builder.Flush();
    EXPECT_EQ(OwnedPages(*run.At(99)), 10u);
    for (const uint64_t at_us : {100, 500, 1000, 1999, 3000}) {
      const auto replay = run.At(at_us);
      EXPECT_EQ(OwnedPages(*replay), 522u) << at_us;
      EXPECT_EQ(replay->model().UnattributedBytes(), 0) << at_us;
    }
  }
}

// It is unmapped before the kernel is asked: the tracer looked just before.
TEST(HindsightTest, PagesOfAFileThatIsSoonUnmappedCameWithItsFaults) {
  LateRun run(false, 1024 + 600);
  run.builder.AddMapping("/data");
  run.builder.AddPages(CamePages(200, 1024 + 700, 1, 1));
  run.builder.AddProcess(1000, 1210 * kPage, 1210 * kPage);
  PageEntry found = RangeEntry(1500, PAGES_POPULATED, 1024, 1200);
  found.stack = 0;
  found.mapping = 2;
  run.builder.AddPages({found});
  run.builder.AddPages({RangeEntry(1501, PAGES_UNMAPPED, 1024, 1200)});
  run.builder.Flush();
  EXPECT_EQ(OwnedPages(*run.At(150)), 10u + 88 + 1 + 49);
  EXPECT_EQ(OwnedPages(*run.At(210)), 522u);
  EXPECT_EQ(run.At(1000)->model().UnattributedBytes(), 688 * int64_t{kPage});
  // Those of other 2 MiB: who touched them is unknown.
  const auto replay = run.At(1500);
  EXPECT_EQ(OwnedPages(*replay), 1210u);
  const ResidentModel& model = replay->model();
  EXPECT_TRUE(model.owners()[model.pages().At(1024).owner].by_scan);
  EXPECT_EQ(model.owners()[model.pages().At(1024).owner].mapping, 2u);
  EXPECT_EQ(model.owners()[model.pages().At(1536).owner].stack, 1u);
  EXPECT_EQ(OwnedPages(*run.At(1501)), 10u);
}

TEST(HindsightTest, ThePeakKnowsWhatCameLate) {
  LateRun run(true);
  run.builder.AddPages(
      {{600, 1024, 512, 0, 1, 1, 0, 1, PAGES_UNMAPPED, false}});
  run.builder.AddPages(CamePages(700, 1024, 1, 1));
  run.builder.AddPages(CamePages(800, 5000, 20, 1));
  run.builder.AddResidency(2000, 2010, 542 * kPage,
                           {run.before, run.huge, {5000, 20, 1, false, false}});
  run.builder.AddPages(
      {{3000, 1024, 512, 0, 1, 1, 0, 1, PAGES_UNMAPPED, false}});
  run.builder.Flush();
  // The block that was there first is unknown; it may have been small.
  EXPECT_EQ(OwnedPages(*run.At(500)), 11u);
  EXPECT_EQ(OwnedPages(*run.At(650)), 10u);
  EXPECT_EQ(OwnedPages(*run.At(750)), 522u);
  EXPECT_EQ(OwnedPages(*run.At(990)), 542u);
  EXPECT_EQ(OwnedPages(*run.At(3000)), 30u);
}

TEST(HindsightTest, PagesOfWhichSeveralAreKnownCameEachForItself) {
  LateRun run(false);
  run.builder.AddPages(CamePages(200, 1030, 1, 1));
  run.builder.AddResidency(2000, 2010, 522 * kPage, {run.before, run.huge});
  run.builder.Flush();
  const auto replay = run.At(3000);
  EXPECT_EQ(OwnedPages(*replay), 12u);
  EXPECT_EQ(replay->model().UnattributedBytes(), 510 * int64_t{kPage});
}

TEST(HindsightTest, ABlockWithAHoleIsNoHugePage) {
  LateRun run(false);
  run.huge.pages = 511;
  run.builder.AddResidency(2000, 2010, 521 * kPage, {run.before, run.huge});
  run.builder.Flush();
  EXPECT_EQ(OwnedPages(*run.At(3000)), 11u);
}

// The page was released before it was seen: only VmHWM counts it.
TEST(HindsightTest, APeakThatNobodySawIsUnattributed) {
  LateRun run(true);
  run.builder.AddProcess(50, 10 * kPage, 20 * kPage);
  run.builder.AddPages(
      {{300, 1024, 256, 0, 1, 1, 0, 1, PAGES_UNMAPPED, false}});
  run.builder.AddProcess(1000, 10 * kPage, 522 * kPage);
  run.builder.Flush();
  PeakFinder finder;
  ReadInto(run.sink.contents(), &finder);
  EXPECT_EQ(finder.peak_us(), 100u);
  EXPECT_EQ(finder.peak_bytes(), 522 * kPage);
  const auto replay = run.At(finder.peak_us());
  EXPECT_EQ(replay->model().RssBytes(), 522 * kPage);
  EXPECT_EQ(replay->model().UnattributedBytes(), 511 * int64_t{kPage});
  EXPECT_EQ(run.At(2000)->model().RssBytes(), 10 * kPage);
}

// Rows of calls read RSS some pages higher than it is known to be.
TEST(HindsightTest, SomePagesMoreThanAPeakThatWasSeenAreOfIt) {
  LateRun run(true);
  run.builder.AddPages(
      {{200, 4096, 1000, 0, 1, 1, 0, 1, PAGES_POPULATED, false}});
  run.builder.AddProcess(250, 1011 * kPage, 1011 * kPage);
  run.builder.AddPages(
      {{300, 4096, 1000, 0, 1, 1, 0, 1, PAGES_UNMAPPED, false}});
  run.builder.AddProcess(900, 11 * kPage, 1011 * kPage);
  run.builder.AddProcess(1000, 0, 1013 * kPage);  // RSS is not known
  run.builder.Flush();
  PeakFinder finder;
  ReadInto(run.sink.contents(), &finder);
  EXPECT_LT(finder.peak_us(), 300u);
  EXPECT_EQ(run.At(finder.peak_us())->model().UnattributedBytes(), 0);
  EXPECT_EQ(run.At(2000)->model().RssBytes(), 11 * kPage);
}

// It may be from before tracing.
TEST(HindsightTest, TheFirstVmHwmTellsOfNoPeak) {
  LateRun run(true);
  run.builder.AddProcess(1000, 11 * kPage, 5000 * kPage);
  run.builder.AddProcess(2000, 11 * kPage, 5000 * kPage);
  run.builder.Flush();
  PeakFinder finder;
  ReadInto(run.sink.contents(), &finder);
  EXPECT_EQ(finder.peak_bytes(), 11 * kPage);
}

}  // namespace
}  // namespace pymemrun
