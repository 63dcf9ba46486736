#include "readers/pictures/lanes/lane_levels.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/tracks/lines_sink_for_tests.h"
#include "readers/tracks/thin_counter.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

SliceName Own(absl::string_view name) {
  SliceName made;
  made.kind = SliceName::kOwn;
  made.name = name;
  made.file = "/app.py";
  made.line = 3;
  return made;
}

SliceName Library(absl::string_view name) {
  SliceName made;
  made.kind = SliceName::kLibrary;
  made.name = name;
  return made;
}

std::vector<std::string> Texts(const std::vector<LaneLevels::Piece>& pieces,
                               const LaneLevels& levels) {
  std::vector<std::string> texts;
  for (const auto& piece : pieces) {
    texts.push_back(absl::StrCat(piece.first, "-", piece.last, " ",
                                 levels.names()[piece.name].name, " ",
                                 static_cast<int>(piece.share * 100 + 0.5)));
  }
  return texts;
}

// Ten columns of 100 us.
class LaneLevelsTest : public ::testing::Test {
 protected:
  void Slice(uint64_t from_us, uint64_t to_us, uint32_t name) {
    levels_.Begin(track_, from_us, name);
    levels_.End(track_, to_us, {});
  }
  std::vector<std::string> Pieces(uint32_t factor = 1) {
    levels_.Finish();
    return Texts(Coarser(levels_.lanes()[0].pieces, factor), levels_);
  }

  LaneLevels levels_{1000, 10};
  uint32_t track_ = levels_.AddThread({1, 4711, "MainThread"});
  uint32_t load_ = levels_.AddName(Own("load"));
  uint32_t save_ = levels_.AddName(Own("save"));
  uint32_t json_ = levels_.AddName(Library("json.loads"));
};

TEST_F(LaneLevelsTest, ALongSliceIsOnePiece) {
  Slice(100, 700, load_);
  EXPECT_THAT(Pieces(), ElementsAre("1-6 load 100"));
  EXPECT_EQ(levels_.lanes()[0].busy_us, 600u);
  EXPECT_EQ(levels_.names()[load_].busy_us, 600u);
}

TEST_F(LaneLevelsTest, AColumnIsOfWhatTookMostOfIt) {
  Slice(200, 230, load_);
  Slice(230, 290, save_);
  EXPECT_THAT(Pieces(), ElementsAre("2-2 save 90"));
}

TEST_F(LaneLevelsTest, PartsOfColumnsHaveTheirShares) {
  Slice(150, 310, load_);
  EXPECT_THAT(Pieces(),
              ElementsAre("1-1 load 50", "2-2 load 100", "3-3 load 10"));
}

TEST_F(LaneLevelsTest, InnerSlicesTakeTheTimeOfOuterOnes) {
  levels_.Begin(track_, 0, load_);
  levels_.Begin(track_, 300, save_);
  levels_.End(track_, 600, {});
  levels_.End(track_, 1000, {});
  EXPECT_THAT(Pieces(),
              ElementsAre("0-2 load 100", "3-5 save 100", "6-9 load 100"));
  EXPECT_EQ(levels_.lanes()[0].busy_us, 1000u);
}

TEST_F(LaneLevelsTest, WhatOwnCodeCallsIsItsOwnDoing) {
  levels_.Begin(track_, 0, load_);
  levels_.Begin(track_, 300, json_);
  levels_.End(track_, 600, {});
  levels_.End(track_, 800, {});
  Slice(900, 1000, json_);
  EXPECT_THAT(Pieces(), ElementsAre("0-7 load 100", "9-9 library code 100"));
}

TEST_F(LaneLevelsTest, CoarserLevelsAddUpShares) {
  Slice(0, 200, load_);
  Slice(300, 800, save_);
  EXPECT_THAT(Pieces(2),
              ElementsAre("0-0 load 100", "1-1 save 50", "2-3 save 100"));
}

TEST_F(LaneLevelsTest, ASliceThatCountsForAPartHasThatShare) {
  levels_.Begin(track_, 200, load_);
  SliceEnd end;
  end.share = 0.25;
  levels_.End(track_, 600, end);
  EXPECT_THAT(Pieces(), ElementsAre("2-5 load 25"));
  EXPECT_EQ(levels_.lanes()[0].busy_us, 100u);
}

TEST_F(LaneLevelsTest, TheRestOfASliceMayBeAnothersInSumAlone) {
  levels_.Begin(track_, 200, load_);
  SliceEnd end;
  end.share = 0.75;
  end.rest_name = save_;
  levels_.End(track_, 600, end);
  EXPECT_THAT(Pieces(), ElementsAre("2-5 load 100"));
  EXPECT_EQ(levels_.names()[load_].busy_us, 300u);
  EXPECT_EQ(levels_.names()[save_].busy_us, 100u);
  EXPECT_EQ(levels_.lanes()[0].busy_us, 400u);
}

TEST_F(LaneLevelsTest, IdleTimeIsNotBusyAndKnownByName) {
  const uint32_t beside = levels_.AddLane(track_, "state");
  SliceName sleeps;
  sleeps.name = "S(lock)";
  sleeps.is_idle = true;
  levels_.Begin(beside, 0, levels_.AddName(sleeps));
  levels_.End(beside, 300, {});
  levels_.Begin(beside, 300, load_);
  levels_.End(beside, 400, {});
  levels_.Finish();
  const LaneLevels::Lane& lane = levels_.lanes()[beside - 1];
  EXPECT_EQ(lane.busy_us, 100u);
  ASSERT_EQ(lane.by_name.size(), 2u);
  EXPECT_EQ(lane.by_name[0].second, 300u);
  EXPECT_EQ(lane.by_name[1].second, 100u);
}

TEST_F(LaneLevelsTest, ManySlicesTakeAPieceForEachColumn) {
  for (uint64_t i = 0; i < 100000; ++i) {
    const uint64_t at_us = i / 100;
    Slice(at_us, at_us + (i % 100 == 0 ? 1 : 0), i % 200 == 0 ? load_ : save_);
  }
  levels_.Finish();
  EXPECT_LE(levels_.lanes()[0].pieces.size(), 10u);
  EXPECT_EQ(levels_.lanes()[0].busy_us, 1000u);
}

TEST_F(LaneLevelsTest, TimesBehindTheEndCountForTheLastColumn) {
  Slice(950, 5000, load_);
  levels_.Grow(track_, 9000, load_, 7);
  EXPECT_THAT(Pieces(), ElementsAre("9-9 load 50"));
  EXPECT_EQ(levels_.lanes()[0].growth[0].column, 9u);
}

TEST(LaneLevelsPartTest, WhatLiesOutsideOfAPartIsCutOff) {
  LaneLevels levels(2000, 10, 1000, /*is_part=*/true);
  const uint32_t track = levels.AddThread({1, 4711, "MainThread"});
  const uint32_t load = levels.AddName(Own("load"));
  const uint32_t rss = levels.AddCounter(kRssCounter, CounterUnit::kBytes);
  for (const uint64_t time_us : {900, 1150, 2500}) {
    levels.Begin(track, time_us - 300, load);
    levels.End(track, time_us, {});
    levels.Grow(track, time_us, load, 7);
    levels.Instant(0, time_us, "mark");
    levels.Count(rss, time_us, static_cast<int64_t>(time_us));
  }
  levels.Begin(track, 2600, load);
  levels.End(track, 2700, {});
  levels.Finish();
  EXPECT_THAT(Texts(levels.lanes()[0].pieces, levels),
              ElementsAre("0-0 load 100", "1-1 load 50"));
  EXPECT_EQ(levels.lanes()[0].busy_us, 150u);
  EXPECT_EQ(levels.lanes()[0].grown_bytes, 7);
  EXPECT_EQ(levels.instants().size(), 1u);
  EXPECT_EQ(levels.rss_bytes()[0], 900);
  EXPECT_EQ(levels.rss_bytes()[1], 1150);
  EXPECT_EQ(levels.rss_bytes()[9], 0);
}

TEST_F(LaneLevelsTest, GrowthIsOfWhatBroughtMost) {
  levels_.Grow(track_, 110, load_, 100);
  levels_.Grow(track_, 120, save_, 300);
  levels_.Grow(track_, 210, load_, 50);
  levels_.Finish();
  const auto& growth = levels_.lanes()[0].growth;
  ASSERT_EQ(growth.size(), 2u);
  EXPECT_EQ(growth[0].name, save_);
  EXPECT_EQ(growth[0].bytes, 400);
  EXPECT_EQ(levels_.lanes()[0].grown_bytes, 450);
  const auto coarse = Coarser(growth, 4);
  ASSERT_EQ(coarse.size(), 1u);
  EXPECT_EQ(coarse[0].bytes, 450);
  EXPECT_EQ(coarse[0].name, save_);
}

TEST_F(LaneLevelsTest, EqualNamesAreOne) {
  EXPECT_EQ(levels_.AddName(Own("load")), load_);
  EXPECT_EQ(levels_.AddName(Library("pickle.load")), json_);
}

TEST_F(LaneLevelsTest, KeepsTheHighestRssOfEachColumn) {
  const uint32_t other = levels_.AddCounter("PSS", CounterUnit::kBytes);
  const uint32_t rss = levels_.AddCounter(kRssCounter, CounterUnit::kBytes);
  levels_.Count(rss, 100, 5);
  levels_.Count(rss, 150, 9);
  levels_.Count(rss, 199, 7);
  levels_.Count(other, 300, 99);
  EXPECT_THAT(levels_.rss_bytes(), ElementsAre(0, 9, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(LaneLevelsTest, LanesBeyondTheBoundAreCounted) {
  for (uint32_t i = 2; i <= LaneLevels::kMostLanes + 10; ++i) {
    track_ = levels_.AddThread({i, i, "worker"});
    Slice(1, 2, load_);
  }
  EXPECT_EQ(levels_.lanes().size(), LaneLevels::kMostLanes);
  EXPECT_EQ(levels_.threads_not_kept(), 10u);
}

TEST(ThinCounterTest, ItsLastValueHoldsUntilTheEnd) {
  LinesSink sink;
  ThinCounter counter(sink.AddCounter("c", CounterUnit::kBytes), &sink);
  counter.Add(100, 5);
  counter.Add(4000, 5);
  counter.Finish(9000);
  counter.Finish(100);
  EXPECT_THAT(sink.lines(), ElementsAre("c 100 5", "c 9000 5"));
}

TEST(ThinCounterTest, GivesTheHighestAndTheLastOfEachMillisecond) {
  LinesSink sink;
  ThinCounter counter(sink.AddCounter("RSS", CounterUnit::kBytes), &sink);
  counter.Add(100, 5);
  counter.Add(200, 9);
  counter.Add(300, 7);
  counter.Add(1500, 7);
  counter.Add(2500, 8);
  counter.Flush();
  EXPECT_THAT(sink.lines(),
              ElementsAre("RSS 200 9", "RSS 300 7", "RSS 2500 8"));
}

}  // namespace
}  // namespace pymemrun
