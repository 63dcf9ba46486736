// When a dump of the objects is due.
#include "collector/process/dump_moments.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr uint64_t kSecond = 1000000000;
constexpr uint64_t kMiB = 1 << 20;

TEST(DumpMomentsTest, NothingIsDueWithoutAWish) {
  DumpMoments moments({});
  for (uint64_t i = 1; i < 100; ++i) {
    EXPECT_FALSE(moments.IsDue(i * kSecond, i * 100 * kMiB));
  }
}

TEST(DumpMomentsTest, EverySoOften) {
  DumpMoments moments({.every_ms = 2000});
  int due = 0;
  for (uint64_t i = 0; i < 100; ++i) due += moments.IsDue(i * kSecond / 10, 0);
  EXPECT_EQ(due, 4);  // after 2, 4, 6 and 8 s of 9.9
}

TEST(DumpMomentsTest, OnceEachTimeThatRssRisesAboveABound) {
  DumpMoments moments({.rss_above_bytes = 100 * kMiB});
  EXPECT_FALSE(moments.IsDue(1, 100 * kMiB));
  EXPECT_TRUE(moments.IsDue(2, 101 * kMiB));
  EXPECT_FALSE(moments.IsDue(3, 500 * kMiB));
  EXPECT_FALSE(moments.IsDue(4, 0));  // not known
  EXPECT_FALSE(moments.IsDue(5, 500 * kMiB));
  EXPECT_FALSE(moments.IsDue(6, 50 * kMiB));
  EXPECT_TRUE(moments.IsDue(7, 101 * kMiB));
}

TEST(DumpMomentsTest, PeaksThatAreWellAboveTheLast) {
  DumpMoments moments({.at_peak = true});
  EXPECT_FALSE(moments.IsDue(1, 15 * kMiB));
  EXPECT_TRUE(moments.IsDue(2, 20 * kMiB));
  EXPECT_FALSE(moments.IsDue(3, 400 * kMiB));  // too soon
  EXPECT_TRUE(moments.IsDue(3 * kSecond, 400 * kMiB));
  EXPECT_FALSE(moments.IsDue(6 * kSecond, 439 * kMiB));
  EXPECT_FALSE(moments.IsDue(9 * kSecond, 100 * kMiB));
  EXPECT_TRUE(moments.IsDue(12 * kSecond, 440 * kMiB));
}

}  // namespace
}  // namespace pymemrun
