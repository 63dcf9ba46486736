#include "readers/replay/page_errors/inference_errors.h"

#include <cmath>
#include <map>
#include <random>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class InferenceErrorsTest : public ::testing::Test {
 protected:
  void Come(uint32_t stack, bool inferred, int pages = 1, uint32_t weight = 1) {
    if (!inferred) return errors_.AddKnown(1, stack);
    for (int i = 0; i < pages; ++i) {
      errors_.AddInferred(1, stack, stack, weight);
    }
    came_[stack] += pages * static_cast<int>(weight);
  }
  // Variance of a stack's pages, if this part is still there.
  double VarianceOf(uint32_t stack, double part = 1) {
    double sum = 0;
    errors_.ForEach(
        [&](uint32_t of) { return static_cast<uint64_t>(came_[of] * part); },
        [&](uint32_t of, uint32_t, double variance) {
          if (of == stack) sum += variance;
        });
    return sum;
  }

  InferenceErrors errors_;
  std::map<uint32_t, int> came_;
};

TEST_F(InferenceErrorsTest, AChangeOfTheStackCountsForBoth) {
  Come(1, false);
  Come(1, true, 5);
  Come(2, true, 5);
  Come(2, false);
  EXPECT_EQ(VarianceOf(1), 50);
  EXPECT_EQ(VarianceOf(2), 50);
  EXPECT_EQ(VarianceOf(2, 0.4), 20);
  Come(2, true, 10);
  Come(2, false);
  EXPECT_EQ(VarianceOf(2), 50);
}

TEST_F(InferenceErrorsTest, PagesOfOneCallAreItsOwn) {
  Come(1, false);
  Come(2, true, 1000);  // a read into fresh memory
  Come(2, false);
  Come(2, true, 1000);
  Come(3, false);
  EXPECT_EQ(VarianceOf(1), 0);
  EXPECT_EQ(VarianceOf(2), 0);
}

// One page in ten is recorded, and one in 21 of these is known.
TEST_F(InferenceErrorsTest, WhereFewAreRecordedMostKnownOnesAreNot) {
  for (int i = 0; i < 10; ++i) {
    Come(1, true, 20, 10);
    Come(1, false);
  }
  Come(1, true, 40, 10);
  Come(2, true, 40, 10);
  EXPECT_EQ(VarianceOf(1), 0);  // it may be a call's
  Come(3, true, 40, 10);        // nor was 2 known
  const double each_known = (10 * 21 + 120) / 10.0;
  const double of_change = 2 * std::pow((10 * 21 + 81) / 10.0, 2);
  EXPECT_NEAR(VarianceOf(1), of_change, 1);
  Come(3, false);
  const double known_later = (10 * 21 + 121) / 11.0;
  EXPECT_NEAR(VarianceOf(3), 2 * known_later * known_later, 1);
  EXPECT_LT(known_later, each_known);
}

TEST_F(InferenceErrorsTest, KnownPagesOutsideBurstsSayNothingOfThem) {
  for (int i = 0; i < 1000; ++i) Come(1, false);
  for (int i = 0; i < 10; ++i) {
    Come(1, true, 20, 10);
    Come(1, false);
  }
  Come(2, true, 40, 10);
  Come(3, true, 40, 10);
  Come(2, true, 1, 10);
  EXPECT_NEAR(VarianceOf(3), 2 * std::pow((10 * 21 + 81) / 10.0, 2), 1);
}

// Two lines take turns, two pages and five. One page in some seven is known.
TEST_F(InferenceErrorsTest, TheErrorIsThatOfASum) {
  constexpr int kRuns = 400, kPages = 3500;
  std::mt19937 random(1);
  double squares = 0, stated = 0;
  for (int run = 0; run < kRuns; ++run) {
    errors_ = {};
    came_.clear();
    uint32_t last = 0;
    int since = 0, of_one = 0;
    for (int page = 0; page < kPages; ++page) {
      if (random() % 7 != 0) {
        ++since;
        continue;
      }
      const uint32_t stack = page % 7 < 2 ? 1 : 2;
      const int of_last = last == 0 ? 0 : since / 2;
      if (of_last > 0) Come(last, true, of_last);
      if (since > of_last) Come(stack, true, since - of_last);
      Come(stack, false);
      of_one += (stack == 1 ? since - of_last + 1 : 0) + (last == 1) * of_last;
      last = stack;
      since = 0;
    }
    squares += (of_one - 1000.0) * (of_one - 1000.0);
    stated += VarianceOf(1);
  }
  EXPECT_GT(stated, 0.7 * squares);
  EXPECT_LT(stated, 1.6 * squares);
}

}  // namespace
}  // namespace pymemrun
