#include "readers/sample_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace pymemrun {
namespace {

constexpr uint32_t kWeight = 10;
constexpr int kRuns = 2000;

struct Found {
  double bias;      // of the estimate, in standard errors of the mean
  double variance;  // of the estimates, in pages
  double stated;    // on average, in pages
};

// Estimates how many pages there are again and again, each time from others.
Found Repeat(const std::set<uint64_t>& pages) {
  std::mt19937 random(7);
  double sum = 0, squares = 0, stated = 0;
  for (int run = 0; run < kRuns; ++run) {
    SampleErrors errors;
    double estimate = 0;
    uint64_t group = UINT64_MAX, chosen = 0;
    for (const uint64_t page : pages) {
      if (page / kWeight != group) {
        group = page / kWeight;
        chosen = group * kWeight + random() % kWeight;
      }
      if (page != chosen) continue;
      estimate += kWeight;
      errors.Add(3, page, kWeight, kWeight);
    }
    sum += estimate;
    squares += estimate * estimate;
    stated += errors.VarianceOf(3);
  }
  const double mean = sum / kRuns;
  const double variance = squares / kRuns - mean * mean;
  const double off = mean - static_cast<double>(pages.size());
  return {std::fabs(off) / std::max(std::sqrt(variance / kRuns), 1e-9),
          variance, stated / kRuns};
}

TEST(SampleErrorsTest, WhereEachPageLiesAloneTheErrorIsAsStated) {
  std::set<uint64_t> pages;
  std::mt19937 random(5);
  while (pages.size() < 1000) pages.insert(random() % 1000000);
  const Found found = Repeat(pages);
  EXPECT_LT(found.bias, 3);
  EXPECT_NEAR(found.stated / found.variance, 1.1, 0.1);
}

TEST(SampleErrorsTest, WhereTwoPlacesShareThePagesTheErrorIsAsStated) {
  std::set<uint64_t> pages;
  for (uint64_t page = 3; page < 10000; page += 2) pages.insert(page);
  const Found found = Repeat(pages);
  EXPECT_LT(found.bias, 3);
  EXPECT_NEAR(found.stated / found.variance, 1.0, 0.1);
}

TEST(SampleErrorsTest, OfPagesInARowOnlyTheEndsAreUncertain) {
  std::set<uint64_t> pages;
  for (uint64_t page = 1004; page < 6017; ++page) pages.insert(page);
  const Found found = Repeat(pages);
  EXPECT_LT(found.bias, 3);
  EXPECT_LE(found.variance, 50);
  EXPECT_GE(found.stated, found.variance);
  EXPECT_LE(found.stated, 2 * kWeight * kWeight);
}

TEST(SampleErrorsTest, SumsAreKeptApartAndCertainPagesHaveNoError) {
  SampleErrors errors;
  errors.Add(0, 5, 10, 40960);
  errors.Add(1, 25, 10, 10);
  errors.Add(1, 31, 10, 4);  // the pair's other group
  errors.Add(1, 99, 1, 4096);
  EXPECT_EQ(errors.ErrorOf(0), 40960);
  EXPECT_EQ(errors.ErrorOf(1), 6);
  EXPECT_EQ(errors.ErrorOf(2), 0);
}

}  // namespace
}  // namespace pymemrun
