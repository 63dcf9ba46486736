#include "tracer/heap/heap_rate_control.h"

#include <gtest/gtest.h>

namespace pymemrun {
namespace {

// What a sampler of that mean costs where each sample costs the same.
uint64_t Settle(uint64_t mean, double bytes_per_s, double cost_s) {
  for (int i = 0; i < 40; ++i) {
    const double spent = bytes_per_s / static_cast<double>(mean) * cost_s;
    mean = HeapRateControl::NextMean(mean, spent, 0.025, 0);
  }
  return mean;
}

TEST(HeapRateControlTest, SettlesWhereTheCostIsWhatWasWanted) {
  for (double bytes_per_s : {1e7, 1e9, 1e10}) {
    const uint64_t mean = Settle(512 * 1024, bytes_per_s, 2e-6);
    const double spent = bytes_per_s / static_cast<double>(mean) * 2e-6;
    EXPECT_GT(spent, 0.020) << bytes_per_s;
    EXPECT_LT(spent, 0.030) << bytes_per_s;
  }
}

TEST(HeapRateControlTest, StaysWithinBounds) {
  EXPECT_EQ(Settle(4096, 1, 1e-9), 64u);
  EXPECT_EQ(Settle(4096, 1e18, 1), 1u << 20);
}

TEST(HeapRateControlTest, WhatIsAboutRightStays) {
  EXPECT_EQ(HeapRateControl::NextMean(1000, 0.0255, 0.025, 0), 1000u);
  EXPECT_EQ(HeapRateControl::NextMean(1000, 0.0225, 0.025, 0), 1000u);
}

TEST(HeapRateControlTest, WhereTheTableFillsLessIsSampled) {
  EXPECT_EQ(HeapRateControl::NextMean(1000, 0.001, 0.025, 0.6), 2000u);
  EXPECT_EQ(HeapRateControl::NextMean(1000, 0.1, 0.025, 0.6), 4000u);
  EXPECT_EQ(HeapRateControl::NextMean(1u << 20, 0, 0.025, 0.6), 2u << 20);
  EXPECT_EQ(HeapRateControl::NextMean(1u << 30, 1, 0.025, 0.6), 1u << 30);
}

TEST(HeapRateControlTest, WhatTheHooksTakeIsTakenOffTheBudget) {
  EXPECT_DOUBLE_EQ(HeapRateControl::ForSamples(0.05, 0), 0.0325);
  EXPECT_NEAR(HeapRateControl::ForSamples(0.05, 0.02), 0.0125, 1e-12);
}

TEST(HeapRateControlTest, WhereTheHooksTakeItAllSamplesTakeATenth) {
  EXPECT_DOUBLE_EQ(HeapRateControl::ForSamples(0.05, 0.04), 0.005);
  EXPECT_DOUBLE_EQ(HeapRateControl::ForSamples(0.05, 0.4), 0.005);
}

TEST(HeapRateControlTest, ASampleStandsForTheInverseOfItsProbability) {
  EXPECT_NEAR(HeapRateControl::StandsFor(1, 1 << 20), 1 << 20, 1);
  EXPECT_EQ(HeapRateControl::StandsFor(0, 64),
            HeapRateControl::StandsFor(1, 64));
  EXPECT_NEAR(HeapRateControl::StandsFor(1024, 1024), 1.582, 0.001);
  EXPECT_DOUBLE_EQ(HeapRateControl::StandsFor(1 << 20, 64), 1);
}

}  // namespace
}  // namespace pymemrun
