#include "readers/answer/growth_fit.h"

#include <algorithm>
#include <functional>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

constexpr size_t kCount = 101;
constexpr uint64_t kStepUs = 100000;

std::optional<GrowthFit> FitOf(const std::function<double(int)>& at) {
  std::vector<double> bytes;
  for (int i = 0; i < static_cast<int>(kCount); ++i) bytes.push_back(at(i));
  return FitGrowth(bytes, kStepUs, kCount);
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

TEST(GrowthFitTest, FewValuesSayNothing) {
  EXPECT_FALSE(FitGrowth({}, 1, 0).has_value());
  EXPECT_FALSE(FitGrowth({1, 2, 3}, 1, 3).has_value());
  EXPECT_FALSE(FitGrowth({1, 2, 3}, 1, 100).has_value());
}

}  // namespace
}  // namespace pymemrun
