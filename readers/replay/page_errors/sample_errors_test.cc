#include "readers/replay/page_errors/sample_errors.h"

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
    SampleErrors errors(4096);
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

// A piece of memory at any address.
struct Piece {
  uint64_t begin;
  uint64_t pages;
};

struct Seen {
  double estimate = 0;
  double error = 0;
};

// As PageSampler chooses: one of each group, and one of each 2 MiB in any case.
Seen Sample(const Piece& piece, uint32_t weight, std::mt19937* random) {
  SampleErrors errors(4096);
  Seen seen;
  const uint64_t end = piece.begin + piece.pages;
  for (uint64_t group = piece.begin / weight; group * weight < end; ++group) {
    const uint64_t page = group * weight + (*random)() % weight;
    if (page < piece.begin || page >= end) continue;
    if (page % 512 == 0) continue;
    seen.estimate += weight;
    errors.Add(0, page, weight, weight);
  }
  const uint64_t blocks = (end - 1) / 512 - (piece.begin - 1) / 512;
  seen.estimate += static_cast<double>(blocks);
  seen.error = std::sqrt(errors.VarianceOf(0));
  return seen;
}

// How often two errors were enough, of the times that any page was chosen.
double Coverage(uint64_t pages, uint32_t weight) {
  std::mt19937 random(static_cast<uint32_t>(pages * 31 + weight));
  int seen = 0, covered = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Piece piece = {10000000 + random() % 100000, pages};
    const Seen sample = Sample(piece, weight, &random);
    if (sample.error == 0) continue;
    ++seen;
    const double off = sample.estimate - static_cast<double>(pages);
    covered += std::fabs(off) <= 2 * sample.error;
  }
  EXPECT_GT(seen, 0);
  return static_cast<double>(covered) / seen;
}

// 2000 times each: by chance that differs by 0.015 (three errors).
TEST(SampleErrorsTest, TwoErrorsAreEnoughNineteenTimesInTwenty) {
  for (const uint32_t weight : {10u, 100u}) {
    for (const double groups : {0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.4, 2.0, 2.6,
                                3.3, 5.0, 10.2, 50.7, 164.0, 1000.5}) {
      const auto pages = static_cast<uint64_t>(groups * weight);
      const double coverage = Coverage(pages, weight);
      EXPECT_GE(coverage, 0.935) << pages << " pages, one in " << weight;
    }
  }
}

// However the choice falls, of a piece in one the error is never none.
TEST(SampleErrorsTest, APieceIsNeverStatedToBeCertain) {
  std::mt19937 random(3);
  for (int run = 0; run < kRuns; ++run) {
    const Piece piece = {10000000 + random() % 1000, 1000 + random() % 10000};
    const Seen sample = Sample(piece, 100, &random);
    EXPECT_GE(sample.error, 100 * std::sqrt(1.0 / 3));
    // Nor to be more in the dark than it is: 17 MiB and more know 2.
    EXPECT_LE(sample.error, 300);
  }
}

TEST(SampleErrorsTest, SumsAreKeptApartAndCertainPagesHaveNoError) {
  SampleErrors errors(4096);
  errors.Add(0, 5, 10, 40960);
  errors.Add(1, 25, 10, 10);
  errors.Add(1, 31, 10, 4);  // the pair's other group
  errors.Add(1, 99, 1, 4096);
  EXPECT_EQ(std::sqrt(errors.VarianceOf(0)), 40960);
  EXPECT_EQ(std::sqrt(errors.VarianceOf(1)), 6);
  EXPECT_EQ(std::sqrt(errors.VarianceOf(2)), 0);
}

}  // namespace
}  // namespace pymemrun
