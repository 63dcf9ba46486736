#include <algorithm>

#include "gtest/gtest.h"
#include "readers/across_runs/processes/process_run.h"

namespace pymemrun {
namespace {

constexpr EvenSteps kSteps = {100, 10};

// At the ten moments.
using Curve = std::vector<double>;

PlaceCurves Curves(const Curve& line, const Curve& imports) {
  PlaceCurves curves;
  curves.bytes[Place{"job.py", 4, {}}] = line;
  if (!imports.empty()) curves.bytes[NamedPlace(kImports)] = imports;
  return curves;
}

// RSS, a reading at each moment.
std::vector<MemoryStep> Rss(const Curve& bytes) {
  std::vector<MemoryStep> steps;
  for (size_t i = 0; i < bytes.size(); ++i) {
    steps.push_back({100 * i, static_cast<uint64_t>(bytes[i])});
  }
  return steps;
}

const Curve kRises = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90};
const Curve kStands = {90, 90, 90, 90, 90, 90, 90, 90, 90, 90};

TEST(ProcessGrowthTest, RssThatRisesIsGrowthOfItsLine) {
  const auto growth = FindGrowth(Curves(kRises, {}), kSteps, Rss(kRises));
  EXPECT_EQ(growth.bytes, 60u);
  EXPECT_EQ(growth.line, "job.py:4");
  EXPECT_EQ(growth.line_bytes, 90u);
}

TEST(ProcessGrowthTest, ALineGrowsInMemoryThatWasThere) {
  const auto growth = FindGrowth(Curves(kRises, {}), kSteps, Rss(kStands));
  EXPECT_EQ(growth.bytes, 60u);
  EXPECT_EQ(growth.line, "job.py:4");
  EXPECT_EQ(growth.line_bytes, 60u);
}

TEST(ProcessGrowthTest, RssThatRisesWithoutALineIsGrowthToo) {
  const auto growth = FindGrowth(Curves(kStands, {}), kSteps, Rss(kRises));
  EXPECT_EQ(growth.bytes, 60u);
  EXPECT_EQ(growth.line, "");
  EXPECT_EQ(growth.line_bytes, 0u);
}

TEST(ProcessGrowthTest, WhatImportsTakeIsNoGrowth) {
  const auto growth = FindGrowth(Curves({}, kRises), kSteps, Rss(kRises));
  EXPECT_EQ(growth.bytes, 0u);
  EXPECT_EQ(growth.line, "");
}

// A worker that loads for half of its time, and leaks then.
TEST(ProcessGrowthTest, TimeCountsFromWhenModulesAreThere) {
  const Curve line = {0, 0, 0, 0, 0, 0, 0, 10, 20, 30};
  const Curve imports = {0, 5, 10, 15, 20, 25, 40, 40, 40, 40};
  const auto growth = FindGrowth(Curves(line, {}), kSteps, Rss(kStands));
  EXPECT_EQ(growth.bytes, 0u);
  const auto loaded = FindGrowth(Curves(line, imports), kSteps, Rss(kStands));
  EXPECT_EQ(loaded.bytes, 30u);
  EXPECT_EQ(loaded.line, "job.py:4");
}

// It loads once more, a good deal later.
TEST(ProcessGrowthTest, LoadingMayComeInTwoParts) {
  const Curve line = {0, 0, 0, 0, 0, 10, 20, 30, 40, 50};
  const Curve imports = {50, 50, 50, 50, 80, 80, 80, 80, 80, 80};
  const auto growth = FindGrowth(Curves(line, imports), kSteps, Rss(kStands));
  EXPECT_GE(growth.bytes, 30u);
}

TEST(ProcessGrowthTest, WhatLoadsToTheEndIsNotJudged) {
  const Curve line = {0, 0, 0, 0, 0, 0, 0, 10, 20, 30};
  const Curve imports = {0, 0, 0, 0, 0, 0, 0, 0, 90, 90};
  const auto growth = FindGrowth(Curves(line, imports), kSteps, Rss(kStands));
  EXPECT_EQ(growth.bytes, 0u);
}

TEST(ProcessGrowthTest, WhatALineTookAtOnceIsNotWhatGrew) {
  PlaceCurves curves = Curves(kRises, {});
  curves.bytes[Place{"job.py", 3, {}}] = {0,   200, 200, 200, 200,
                                          200, 200, 200, 200, 200};
  const auto growth = FindGrowth(
      curves, kSteps, Rss({0, 210, 220, 230, 240, 250, 260, 270, 280, 290}));
  EXPECT_EQ(growth.bytes, 60u);
  EXPECT_EQ(growth.line, "job.py:4");
  EXPECT_EQ(growth.line_bytes, 90u);
}

// It waits for its first task, and when it has done its last one.
TEST(ProcessGrowthTest, WaitingDoesNotCount) {
  const Curve line = {0, 0, 0, 10, 20, 30, 40, 50, 50, 50};
  EXPECT_EQ(FindGrowth(Curves(line, {}), kSteps, Rss(kStands)).bytes, 40u);
  const Curve longer = {0, 0, 0, 0, 0, 15, 30, 30, 30, 30};
  EXPECT_EQ(FindGrowth(Curves(longer, {}), kSteps, Rss(kStands)).bytes, 0u);
}

TEST(ProcessGrowthTest, ALineThatWasFilledOnceIsNone) {
  for (const size_t full : {3, 4, 5}) {
    Curve filled;
    for (size_t i = 0; i < kSteps.count; ++i) {
      filled.push_back(30.0 * static_cast<double>(std::min(i, full)));
    }
    const auto growth = FindGrowth(Curves(filled, {}), kSteps, Rss(filled));
    EXPECT_EQ(growth.bytes, 0u) << full;
  }
}

// Places are left out of a curve's end where they have nothing any more.
TEST(ProcessGrowthTest, ShortCurvesEndWithNothing) {
  const auto growth =
      FindGrowth(Curves({0, 10, 20, 30}, {0, 0}), kSteps, Rss(kStands));
  EXPECT_EQ(growth.bytes, 0u);
}

}  // namespace
}  // namespace pymemrun
