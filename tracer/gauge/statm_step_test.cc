// The grain of statm: measured on kernels as they were, and RSS refined.
#include "tracer/gauge/statm_step.h"

#include <sys/mman.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "tracer/base/statm.h"

namespace pymemrun {
namespace {

// statm as a kernel shows it that tells of pages `g_batch` at a time. It is
// read once at the start, and after each page that is touched.
uint64_t g_batch = 1;
uint64_t g_pages = 0;
uint32_t Coarse() {
  return static_cast<uint32_t>((1000 + g_pages++) / g_batch * g_batch);
}

uint32_t Measured(uint64_t batch, uint64_t already_held) {
  g_batch = batch;
  g_pages = already_held;
  return MeasureStatmStep(Coarse);
}

TEST(MeasureStatmStepTest, FindsTheBatchWhereverItBegins) {
  for (const uint64_t batch : {1, 2, 32, 64, 65}) {
    EXPECT_EQ(Measured(batch, 0), batch);
    EXPECT_EQ(Measured(batch, 13), batch);
  }
}

TEST(MeasureStatmStepTest, ThisKernelsFigureMovesAndGoesBack) {
  ASSERT_TRUE(Statm::Open());
  const uint32_t before = Statm::Read();
  const uint32_t step = MeasureStatmStep(Statm::Read);
  const uint32_t after = Statm::Read();
  EXPECT_GE(step, 1u);
  EXPECT_LE(step, 512u);
  EXPECT_LE(after, before + 2 * step);
  close(Statm::descriptor());
  Statm::DescriptorClosed();
}

TEST(MeasureStatmStepTest, WhatNeverMovesOrCannotBeReadIsUnknown) {
  EXPECT_EQ(MeasureStatmStep([] { return 0u; }), 0u);
  EXPECT_EQ(MeasureStatmStep([] { return 1000u; }), 0u);
}

TEST(RssEstimateTest, AnExactFigureIsLeftAsItIs) {
  for (const uint32_t step : {0u, 1u}) {
    RssEstimate estimate;
    estimate.Start(step, 4);
    EXPECT_FALSE(estimate.coarse());
    EXPECT_EQ(estimate.Refine(500, 10), 500u);
    EXPECT_EQ(estimate.Refine(500, 20), 500u);
  }
}

TEST(RssEstimateTest, FaultsAddPagesUntilTheFigureMoves) {
  RssEstimate estimate;
  estimate.Start(64, 1);
  EXPECT_TRUE(estimate.coarse());
  EXPECT_EQ(estimate.Refine(500, 7), 500u);
  EXPECT_EQ(estimate.Refine(500, 8), 501u);
  EXPECT_EQ(estimate.Refine(500, 70), 563u);
  // The figure has caught up: what was added is in it.
  EXPECT_EQ(estimate.Refine(564, 71), 564u);
  EXPECT_EQ(estimate.Refine(564, 72), 565u);
  // It sinks with an unmapping.
  EXPECT_EQ(estimate.Refine(400, 72), 400u);
}

TEST(RssEstimateTest, FaultsThatBringNoPageAddNoMoreThanCanBeUnseen) {
  RssEstimate estimate;
  estimate.Start(32, 2);
  EXPECT_EQ(estimate.Refine(500, 0), 500u);
  EXPECT_EQ(estimate.Refine(500, 62), 562u);
  EXPECT_EQ(estimate.Refine(500, 100000), 562u);
}

}  // namespace
}  // namespace pymemrun
