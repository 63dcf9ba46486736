// When a dump of the objects is due.
#include "collector/process/dump_orders.h"
#include "gtest/gtest.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

TEST(DumpMomentsTest, NothingIsDueWithoutAWish) {
  DumpMoments moments({});
  for (uint64_t i = 1; i < 100; ++i) {
    EXPECT_FALSE(moments.Due(i * kSecond, i * 100 * kMiB).has_value());
  }
}

TEST(DumpMomentsTest, EverySoOften) {
  DumpMoments moments({.every_ms = 2000});
  int due = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    due += moments.Due(i * kSecond / 10, 0).has_value();
  }
  EXPECT_EQ(due, 4);  // after 2, 4, 6 and 8 s of 9.9
}

TEST(DumpMomentsTest, OnceEachTimeThatRssRisesAboveABound) {
  DumpMoments moments({.rss_above_bytes = 100 * kMiB});
  EXPECT_FALSE(moments.Due(1, 100 * kMiB).has_value());
  EXPECT_TRUE(moments.Due(2, 101 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(3, 500 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(4, 0).has_value());  // not known
  EXPECT_FALSE(moments.Due(5, 500 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(6, 50 * kMiB).has_value());
  EXPECT_TRUE(moments.Due(7, 101 * kMiB).has_value());
}

TEST(DumpMomentsTest, PeaksThatAreWellAboveTheLast) {
  DumpMoments moments({.at_peak = true});
  EXPECT_FALSE(moments.Due(1, 15 * kMiB).has_value());
  EXPECT_TRUE(moments.Due(2, 20 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(3, 400 * kMiB).has_value());  // too soon
  EXPECT_TRUE(moments.Due(3 * kSecond, 400 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(6 * kSecond, 439 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(9 * kSecond, 100 * kMiB).has_value());
  EXPECT_TRUE(moments.Due(12 * kSecond, 440 * kMiB).has_value());
}

TEST(DumpMomentsTest, APeakHigherByHalfWaitsLess) {
  DumpMoments moments({.at_peak = true});
  EXPECT_TRUE(moments.Due(kSecond, 100 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(kSecond * 5 / 4, 200 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(kSecond * 3 / 2, 149 * kMiB).has_value());
  EXPECT_TRUE(moments.Due(kSecond * 3 / 2, 150 * kMiB).has_value());
  EXPECT_FALSE(moments.Due(3 * kSecond, 200 * kMiB).has_value());
  EXPECT_TRUE(moments.Due(kSecond * 7 / 2, 200 * kMiB).has_value());
}

TEST(DumpMomentsTest, OfSeveralReasonsTheRarestIsTold) {
  DumpMoments moments(
      {.every_ms = 1000, .rss_above_bytes = 100 * kMiB, .at_peak = true});
  EXPECT_EQ(moments.Due(1, 20 * kMiB), DumpReason::kAtPeak);
  EXPECT_EQ(moments.Due(3 * kSecond, 200 * kMiB), DumpReason::kRssAbove);
  EXPECT_EQ(moments.Due(5 * kSecond, 300 * kMiB), DumpReason::kEvery);
}

}  // namespace
}  // namespace pymemrun
