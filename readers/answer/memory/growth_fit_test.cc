#include "readers/answer/memory/growth_fit.h"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "readers/replay/heap/heap_history.h"

namespace pymemrun {
namespace {

constexpr size_t kCount = 101;
constexpr uint64_t kStepUs = 100000;

std::optional<GrowthFit> FitOf(const std::function<double(int)>& at) {
  std::vector<double> bytes;
  for (int i = 0; i < static_cast<int>(kCount); ++i) bytes.push_back(at(i));
  return FitGrowth(bytes, {}, kStepUs, kCount);
}

TEST(GrowthFitTest, SteadyGrowthIsMeasured) {
  const auto fit = FitOf([](int i) { return 1000.0 * i; });
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->gained_bytes, 50000, 1);
  EXPECT_EQ(fit->span_us, 50 * kStepUs);
  EXPECT_NEAR(fit->error_bytes, 0, 1);
}

TEST(GrowthFitTest, NoiseIsItsError) {
  const auto fit =
      FitOf([](int i) { return 1000.0 * i + (i * 7919 % 13 - 6) * 300; });
  ASSERT_TRUE(fit.has_value());
  EXPECT_GT(fit->error_bytes, 100);
  EXPECT_NEAR(fit->gained_bytes, 50000, 4 * fit->error_bytes);
}

// What is released again between does not count.
TEST(GrowthFitTest, ATemporaryLoadDoesNotHideALeak) {
  const auto fit =
      FitOf([](int i) { return 1000.0 * i + (i % 5 == 2 ? 9000 : 0); });
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->gained_bytes, 50000, 2000);
}

TEST(GrowthFitTest, GrowthThatBeginsLateIsOfTheLastQuarter) {
  const auto fit = FitOf([](int i) { return i > 72 ? 1000.0 * (i - 72) : 0; });
  ASSERT_TRUE(fit.has_value());
  EXPECT_EQ(fit->span_us, 25 * kStepUs);
  EXPECT_NEAR(fit->gained_bytes, 25000, 0.1 * 25000);
}

TEST(GrowthFitTest, WhatIsFlatOrFallsDoesNotGrow) {
  EXPECT_FALSE(FitOf([](int) { return 5000.0; }).has_value());
  EXPECT_FALSE(FitOf([](int i) { return 5000.0 - i; }).has_value());
  EXPECT_FALSE(FitOf([](int i) { return 5000.0 + i * 7919 % 13; }).has_value());
}

TEST(GrowthFitTest, ACacheThatIsFullDoesNotGrow) {
  for (const int full : {10, 50, 55, 60, 70, 80, 90}) {
    EXPECT_FALSE(
        FitOf([full](int i) { return 1000.0 * std::min(i, full); }).has_value())
        << full;
  }
}

TEST(GrowthFitTest, ASawtoothDoesNotGrow) {
  for (int period = 2; period <= 50; ++period) {
    for (int phase = 0; phase < period; ++phase) {
      EXPECT_FALSE(FitOf([=](int i) {
                     return 1000.0 * ((i + phase) % period);
                   }).has_value())
          << period << " " << phase;
    }
  }
}

TEST(GrowthFitTest, ASingleStepDoesNotGrow) {
  for (const int at : {20, 60, 80, 99}) {
    EXPECT_FALSE(
        FitOf([at](int i) { return i < at ? 0 : 9000.0; }).has_value());
  }
}

struct Sampled {
  std::vector<double> bytes, gain_variance;
};
constexpr double kSample = 524288;

// Blocks come at a time and go at another one, in steps. One of six is a
// sample.
Sampled Sample(const std::vector<std::pair<double, double>>& blocks,
               std::mt19937* random) {
  constexpr double kEnd = kCount - 1;
  Sampled sampled;
  sampled.bytes.resize(kCount);
  std::vector<double> came(kCount), went(kCount);
  for (const auto& [from, to] : blocks) {
    if ((*random)() % 6 != 0) continue;
    for (size_t i = 0; i < kCount; ++i) {
      const auto at = static_cast<double>(i);
      const bool is_there = from <= at && to > at;
      const bool is_there_at_end = from <= kEnd && to > kEnd;
      if (is_there) sampled.bytes[i] += kSample;
      if (is_there != is_there_at_end) {
        (is_there ? went : came)[i] += kSample * kSample * 5 / 6;
      }
    }
  }
  for (size_t i = 0; i < kCount; ++i) {
    sampled.gain_variance.push_back(VarianceOfGain(came[i], went[i]));
  }
  return sampled;
}

// How many of 200 runs with such blocks grow.
int Growing(const std::function<std::pair<double, double>(int)>& block,
            int blocks) {
  std::mt19937 random(20);
  int growing = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<std::pair<double, double>> all;
    for (int i = 0; i < blocks; ++i) all.push_back(block(i));
    const Sampled sampled = Sample(all, &random);
    growing += FitGrowth(sampled.bytes, sampled.gain_variance, kStepUs, kCount)
                   .has_value();
  }
  return growing;
}

constexpr double kNever = 1e9;

// Some 25 samples in the second half are enough, beside what comes and goes. Of
// 12 most are.
TEST(GrowthFitTest, SamplesOfALeakGrow) {
  EXPECT_GE(Growing([](int i) { return std::pair(i / 1.5, kNever); }, 150),
            170);
  EXPECT_GE(Growing([](int i) { return std::pair(i / 3.0, kNever); }, 300),
            196);
  EXPECT_GE(Growing(
                [](int i) {
                  return std::pair(i % 300 / 3.0,
                                   i < 300 ? kNever : i % 300 / 3.0 + 0.5);
                },
                1500),
            190);
}

TEST(GrowthFitTest, SamplesOfACacheDoNotGrow) {
  // Full at some time.
  for (const double full : {30.0, 60.0, 75.0}) {
    EXPECT_LE(
        Growing([full](int i) { return std::pair(full * i / 300, kNever); },
                300),
        0)
        << full;
  }
  EXPECT_LE(
      Growing([](int i) { return std::pair(90.0 * i / 300, kNever); }, 300),
      10);
  // The oldest goes when another comes.
  for (const double life : {10.0, 30.0, 60.0}) {
    EXPECT_LE(
        Growing([life](int i) { return std::pair(i / 3.0, i / 3.0 + life); },
                300),
        0)
        << life;
  }
}

TEST(GrowthFitTest, FewSamplesSayNothing) {
  EXPECT_LE(Growing([](int i) { return std::pair(i / 0.3, kNever); }, 30), 4);
  EXPECT_EQ(Growing([](int) { return std::pair(80.0, kNever); }, 300), 0);
}

TEST(GrowthFitTest, FewValuesSayNothing) {
  EXPECT_FALSE(FitGrowth({}, {}, 1, 0).has_value());
  EXPECT_FALSE(FitGrowth({1, 2, 3}, {}, 1, 3).has_value());
  EXPECT_FALSE(FitGrowth({1, 2, 3}, {}, 1, 100).has_value());
}

}  // namespace
}  // namespace pymemrun
