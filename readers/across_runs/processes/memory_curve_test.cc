#include "readers/across_runs/processes/memory_curve.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

std::vector<std::pair<uint64_t, uint64_t>> Pairs(
    const std::vector<MemoryStep>& steps) {
  std::vector<std::pair<uint64_t, uint64_t>> pairs;
  for (const MemoryStep& step : steps) {
    pairs.emplace_back(step.time_us, step.bytes);
  }
  return pairs;
}

using Pair = std::pair<uint64_t, uint64_t>;

TEST(MemoryCurveTest, WithoutSharesItIsRss) {
  MemoryCurve curve;
  curve.AddRss(0, 10000);
  curve.Add({20, 50000, 0});
  curve.AddRss(10, 30000);
  EXPECT_THAT(Pairs(curve.Shares(false)),
              ElementsAre(Pair(0, 10000), Pair(10, 30000), Pair(20, 50000)));
  EXPECT_EQ(curve.HighestPss(), 0u);
}

TEST(MemoryCurveTest, BetweenReadingsTheShareMovesAsRssDoes) {
  MemoryCurve curve;
  curve.Add({0, 100000, 40000});
  curve.AddRss(10, 120000);
  curve.AddRss(20, 50000);
  curve.Add({30, 120000, 90000});
  EXPECT_THAT(Pairs(curve.Shares(true)),
              ElementsAre(Pair(0, 40000), Pair(10, 60000), Pair(20, 0),
                          Pair(30, 90000)));
  EXPECT_EQ(curve.HighestPss(), 90000u);
}

// The collector tells the share by itself, when it has moved. By then RSS had
// grown as far as it did: the growth is within that share.
TEST(MemoryCurveTest, AShareWithoutRssHoldsFromThere) {
  MemoryCurve curve;
  curve.AddRss(0, 100000);
  curve.Add({10, 0, 60000});
  curve.AddRss(20, 130000);
  EXPECT_THAT(Pairs(curve.Shares(true)),
              ElementsAre(Pair(0, 0), Pair(10, 60000), Pair(20, 60000)));
  EXPECT_THAT(Pairs(curve.Rss()),
              ElementsAre(Pair(0, 100000), Pair(20, 130000)));
  EXPECT_EQ(curve.HighestPss(), 60000u);
}

// 30000 are other processes' too; of the 60000 that are read later a child has
// its part.
TEST(MemoryCurveTest, BeforeTheFirstReadingFilesWereSharedAsThere) {
  for (const auto& [pss, first] :
       {std::pair{70000u, 30000u}, {30000u, 40000u}}) {
    MemoryCurve curve;
    curve.AddRss(0, 60000);
    curve.Add({10, 100000, pss, 40000});
    EXPECT_THAT(Pairs(curve.Shares(false)),
                ElementsAre(Pair(0, 60000 - first), Pair(10, pss)));
    EXPECT_THAT(Pairs(curve.Shares(true)),
                ElementsAre(Pair(0, 0), Pair(10, pss)));
  }
}

// A share of 50000 that is read amid a growth of 100000 has half of it.
TEST(MemoryCurveTest, WhatRssDidUnseenIsNotCountedTwice) {
  MemoryCurve curve;
  curve.Add({0, 10000, 10000});
  curve.Add({10, 0, 60000});
  curve.AddRss(20, 110000);
  curve.Add({30, 0, 70000});
  curve.AddRss(40, 10000);
  EXPECT_THAT(Pairs(curve.Shares(false)),
              ElementsAre(Pair(0, 10000), Pair(10, 60000), Pair(20, 110000),
                          Pair(30, 70000), Pair(40, 10000)));
}

TEST(MemoryCurveTest, SharesAloneAreTheCurve) {
  MemoryCurve curve;
  curve.Add({0, 0, 30000});
  curve.Add({10, 0, 50000});
  EXPECT_THAT(Pairs(curve.Shares(true)),
              ElementsAre(Pair(0, 30000), Pair(10, 50000)));
  EXPECT_THAT(curve.Rss(), ElementsAre());
}

// Until its share is read its parent has what it shares with it.
TEST(MemoryCurveTest, AForkedProcessBeginsWithNothing) {
  MemoryCurve curve;
  curve.AddRss(0, 100000);
  curve.AddRss(10, 130000);
  EXPECT_THAT(Pairs(curve.Shares(true)),
              ElementsAre(Pair(0, 0), Pair(10, 30000)));
}

TEST(MemoryCurveTest, TakesConstantMemory) {
  MemoryCurve curve;
  for (uint64_t i = 0; i < 8 * MemoryCurve::kMaxReadings; ++i) {
    curve.Add({i, i % 2 == 0 ? 1000000000u : 1u, 1});
  }
  EXPECT_LE(curve.Shares(false).size(), MemoryCurve::kMaxReadings);
}

TEST(MemoryCurveTest, WhatAFileSaysIsBounded) {
  MemoryCurve curve;
  curve.Add({0, UINT64_MAX, UINT64_MAX});
  curve.Add({1, UINT64_MAX, 0});
  for (const MemoryStep& step : curve.Shares(false)) {
    EXPECT_LE(step.bytes, uint64_t{1} << 50);
  }
}

TEST(SteadyGrowthTest, CountsFromTheSecondFifth) {
  const std::vector<MemoryStep> steps = {{0, 10},   {100, 50}, {200, 60},
                                         {300, 70}, {400, 90}, {450, 95}};
  EXPECT_EQ(SteadyGrowth(steps, 0, 500), 40u);
}

TEST(SteadyGrowthTest, AFallOrAStandIsNoLeak) {
  EXPECT_EQ(SteadyGrowth({{0, 10}, {100, 50}, {250, 55}, {320, 50}}, 0, 500),
            0u);
  EXPECT_EQ(SteadyGrowth({{0, 10}, {100, 50}}, 0, 500), 0u);
  // It grew while it began.
  EXPECT_EQ(SteadyGrowth({{0, 10}, {100, 50}, {200, 90}, {300, 91}, {400, 92}},
                         0, 500),
            0u);
}

TEST(SteadyGrowthTest, NeedsTime) {
  EXPECT_EQ(SteadyGrowth({{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 0, 4), 0u);
  EXPECT_EQ(SteadyGrowth({}, 0, 1000), 0u);
  EXPECT_EQ(SteadyGrowth({{0, 1}}, 10, 5), 0u);
}

}  // namespace
}  // namespace pymemrun
