#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/replay/counters/counter_replay.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using Look = CounterSeries::Look;

TEST(CounterSeriesTest, KnowsLeastMostAndLastWithTheirTimes) {
  CounterSeries series("queue", Look::kNumber);
  EXPECT_TRUE(series.empty());
  series.Add(10, 5);
  series.Add(20, -2);
  series.Add(30, 9);
  series.Add(40, 9);
  series.Add(50, 1);
  EXPECT_EQ(series.least().time_us, 20u);
  EXPECT_EQ(series.least().value, -2);
  EXPECT_EQ(series.most().time_us, 30u);
  EXPECT_EQ(series.last().value, 1);
  EXPECT_EQ(series.Growth(), -4);
}

TEST(CounterSeriesTest, WhatIsNoNumberIsLeftOut) {
  CounterSeries series("x", Look::kNumber);
  series.Add(1, std::nan(""));
  series.Add(2, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(series.empty());
}

TEST(CounterSeriesTest, TimesDoNotFall) {
  CounterSeries series("x", Look::kNumber);
  series.Add(10, 1);
  series.Add(8, 2);
  EXPECT_EQ(series.last().time_us, 10u);
}

TEST(CounterSeriesTest, OnlyGrowsWhereItGrewInBothHalves) {
  CounterSeries leaks("d", Look::kNumber), sinks("d", Look::kNumber),
      stays("d", Look::kNumber);
  for (int i = 0; i <= 10; ++i) {
    leaks.Add(100 * i, i);
    sinks.Add(100 * i, i == 7 ? 0 : i);
    stays.Add(100 * i, std::min(i, 4));
  }
  EXPECT_TRUE(leaks.OnlyGrows());
  EXPECT_FALSE(sinks.OnlyGrows());
  EXPECT_FALSE(stays.OnlyGrows());
}

TEST(CounterSeriesTest, ACurveHasTheHighestOfEachColumn) {
  CounterSeries series("x", Look::kNumber);
  series.Add(0, 1);
  series.Add(10, 7);
  series.Add(20, 2);
  series.Add(30, 3);
  EXPECT_THAT(series.Curve(4, 80), ElementsAre(7, 3, 3, 3));
}

TEST(CounterSeriesTest, ACurveOfWhatIsBelowZeroBeginsAtTheLeast) {
  CounterSeries series("x", Look::kNumber);
  series.Add(0, -5);
  series.Add(10, 1);
  EXPECT_THAT(series.Curve(2, 20), ElementsAre(0, 6));
}

TEST(CounterSeriesTest, ACurveOfATotalShowsHowFastItGrew) {
  CounterSeries series("cpu_user", Look::kSeconds);
  series.Add(0, 10);
  series.Add(10, 11);
  series.Add(50, 11);
  series.Add(90, 14);
  EXPECT_THAT(series.Curve(2, 100), ElementsAre(1, 3));
}

TEST(CounterSeriesTest, ACurveOfOneValueAndOfNoColumns) {
  CounterSeries series("x", Look::kNumber);
  EXPECT_THAT(series.Curve(2, 100), ElementsAre(0, 0));
  series.Add(std::numeric_limits<uint64_t>::max(), 3);
  EXPECT_THAT(series.Curve(2, 0), ElementsAre(3, 3));
  EXPECT_TRUE(series.Curve(0, 100).empty());
}

TEST(CounterSeriesTest, WhatCameAfterTheEndIsLeftOut) {
  CounterSeries series("descriptors", CounterSeries::Look::kNumber);
  for (uint64_t i = 0; i < 5; ++i) series.Add(i * 100, 3.0 + i);
  series.Add(500, 1);  // closed by the interpreter
  EXPECT_FALSE(series.OnlyGrows());
  series.EndAt(450);
  EXPECT_TRUE(series.OnlyGrows());
  EXPECT_EQ(series.last().value, 7);
  EXPECT_EQ(series.least().value, 3);
  series.EndAt(10);
  EXPECT_EQ(series.points().size(), 1u);
  CounterSeries late("late", CounterSeries::Look::kNumber);
  late.Add(100, 1);
  late.EndAt(50);
  EXPECT_EQ(late.last().value, 1);
}

}  // namespace
}  // namespace pymemrun
