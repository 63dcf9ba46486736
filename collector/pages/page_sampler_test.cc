#include "collector/pages/page_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

constexpr uint64_t kBlockPages = 512;     // of 2 MiB
constexpr uint64_t kFirst = 0x7f0000000;  // a page that begins a block

class PageSamplerTest : public testing::Test {
 protected:
  // For a program without files, the first faults of all blocks behind it.
  PageSampler Make(uint32_t period, uint64_t seed) {
    PageSampler sampler({period, seed, kPage});
    sampler.Begin();
    return sampler;
  }
  static PageChoice Choose(uint64_t page, PageSampler* sampler) {
    return sampler->Choose(page * kPage + 17, false);
  }
  static void TouchBlocks(uint64_t page, uint64_t pages, PageSampler* sampler) {
    for (uint64_t at = page; at < page + pages; at += kBlockPages) {
      Choose(at, sampler);
    }
  }
  // How many pages what is chosen of these stands for.
  double Estimate(const std::vector<uint64_t>& pages, uint32_t period,
                  uint64_t seed) {
    PageSampler sampler = Make(period, seed);
    TouchBlocks(pages.front() / kBlockPages * kBlockPages, 1 << 16, &sampler);
    double estimate = 0;
    for (const uint64_t page : pages) {
      const PageChoice choice = Choose(page, &sampler);
      EXPECT_FALSE(IsCertain(choice));
      if (choice == PageChoice::kChosen) estimate += period;
    }
    return estimate;
  }
  // The mean over many runs must be what is there, whatever stands where.
  void ExpectUnbiased(const std::vector<uint64_t>& pages, uint32_t period) {
    constexpr int kRuns = 400;
    double sum = 0, squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      const double estimate = Estimate(pages, period, run);
      sum += estimate;
      squares += estimate * estimate;
    }
    const double mean = sum / kRuns;
    const double error =
        std::sqrt(std::max(squares / kRuns - mean * mean, 0.0) / kRuns);
    const auto truth = static_cast<double>(pages.size());
    EXPECT_LE(std::fabs(mean - truth), 3 * error + 1e-9)
        << mean << ", there are " << truth;
    // Each page is chosen for itself within its group: this is the most that
    // chance may do.
    EXPECT_LE(error * std::sqrt(kRuns),
              1.1 * std::sqrt(truth * (period - 1.0)));
  }
};

TEST_F(PageSamplerTest, TheMeanOfManyRunsIsWhatIsThere) {
  std::vector<uint64_t> row, tenth, twentieth, any;
  std::mt19937 random(4);
  std::set<uint64_t> drawn;
  for (uint64_t i = 0; i < 1000; ++i) {
    row.push_back(kFirst + 3 + i);
    tenth.push_back(kFirst + 7 + 10 * i);
    twentieth.push_back(kFirst + 4 + 20 * i);
    drawn.insert(kFirst + random() % 30000);
  }
  any.assign(drawn.begin(), drawn.end());
  for (const uint32_t period : {2u, 10u, 100u}) {
    for (const auto& pages : {row, tenth, twentieth, any}) {
      ExpectUnbiased(pages, period);
    }
  }
}

// An array at any address, with the first faults of its blocks, which stand
// for themselves: on average over all choices each page counts as one. The mean
// of the runs is off by more than 4 of its errors once in 16,000 times.
TEST_F(PageSamplerTest, AnArrayCountsWhatItHasWhereverItLies) {
  std::mt19937 random(11);
  for (const uint32_t period : {3u, 16u, 64u, 100u, 1000u}) {
    constexpr int kRuns = 800;
    double sum = 0, squares = 0;
    for (int run = 0; run < kRuns; ++run) {
      PageSampler sampler = Make(period, random());
      const uint64_t begin = kFirst + random() % 100000;
      const uint64_t pages = 1 + random() % 3000;
      double surplus = -static_cast<double>(pages);
      for (uint64_t page = begin; page < begin + pages; ++page) {
        const PageChoice choice = Choose(page, &sampler);
        if (choice == PageChoice::kChosen) surplus += period;
        if (IsCertain(choice)) surplus += 1;
      }
      sum += surplus;
      squares += surplus * surplus;
    }
    const double mean = sum / kRuns;
    const double error = std::sqrt((squares / kRuns - mean * mean) / kRuns);
    EXPECT_LE(std::fabs(mean), 4 * error) << "one in " << period;
    // Each end is off by half a group at most, each first page by one.
    EXPECT_LE(error * std::sqrt(kRuns), 1.0 * period + 10);
  }
}

TEST_F(PageSamplerTest, EachPageHasTheSameChance) {
  constexpr int kRuns = 2000;
  std::vector<int> chosen(40);
  for (int run = 0; run < kRuns; ++run) {
    PageSampler sampler = Make(10, run);
    Choose(kFirst, &sampler);
    for (uint64_t i = 0; i < chosen.size(); ++i) {
      chosen[i] += Choose(kFirst + i, &sampler) == PageChoice::kChosen;
    }
  }
  // 200 +- 13.4 each: 4 of these.
  for (const int times : chosen) EXPECT_NEAR(times, kRuns / 10, 54);
}

TEST_F(PageSamplerTest, OneOfEachGroupWhateverHappensToIt) {
  PageSampler sampler = Make(10, 5);
  Choose(kFirst, &sampler);
  const uint64_t begin = (kFirst / 10 + 1) * 10;
  for (int time = 0; time < 2; ++time) {
    for (uint64_t group = begin; group < begin + 400; group += 10) {
      int chosen = 0;
      for (uint64_t page = group; page < group + 10; ++page) {
        chosen += Choose(page, &sampler) == PageChoice::kChosen;
      }
      EXPECT_EQ(chosen, 1);
    }
  }
}

TEST_F(PageSamplerTest, AllAreCertainBeforeItBeginsAndWithAPeriodOfOne) {
  PageSampler all = Make(1, 5);
  PageSampler later({1000, 5, kPage});
  for (uint64_t page = kFirst; page < kFirst + 1000; ++page) {
    EXPECT_TRUE(IsCertain(Choose(page, &all)));
    EXPECT_TRUE(IsCertain(Choose(page, &later)));
  }
}

TEST_F(PageSamplerTest, WhatMayBringAHugePageIsFirst) {
  PageSampler sampler = Make(10000, 5);
  const auto first = [&](uint64_t page) {
    return Choose(page, &sampler) == PageChoice::kFirst;
  };
  EXPECT_TRUE(first(kFirst + 9));
  EXPECT_FALSE(first(kFirst + 8));
  EXPECT_TRUE(first(kFirst + kBlockPages));
  EXPECT_FALSE(first(kFirst + 7));
  sampler.Left((kFirst + 16) * kPage, 16 * kPage);  // no room for one
  EXPECT_FALSE(first(kFirst + 16));
  sampler.Left((kFirst + 256) * kPage, 512 * kPage);
  EXPECT_TRUE(first(kFirst + 16));
  EXPECT_TRUE(first(kFirst + kBlockPages + 16));
  // Nothing is left of the second block.
  sampler.Found({{kFirst * kPage, (kFirst + 3) * kPage, 1, 0}});
  EXPECT_FALSE(first(kFirst + 16));
  EXPECT_TRUE(first(kFirst + kBlockPages + 16));
  sampler.Left(0, uint64_t{1} << 47);
  EXPECT_TRUE(first(kFirst + 16));
}

TEST_F(PageSamplerTest, FilesAreRecordedWhole) {
  PageSampler sampler = Make(10000, 5);
  for (uint64_t page = kFirst; page < kFirst + 100; ++page) {
    EXPECT_EQ(sampler.Choose(page * kPage, true), PageChoice::kCertain);
  }
  EXPECT_EQ(Choose(kFirst, &sampler), PageChoice::kFirst);
}

}  // namespace
}  // namespace pymemrun
