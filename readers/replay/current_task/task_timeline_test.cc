#include <gtest/gtest.h>

#include <utility>

#include "readers/replay/current_task/task_steps_reader.h"

namespace pymemrun {
namespace {

TEST(TaskTimelineTest, BetweenStepsNoTaskRuns) {
  TaskTimeline timeline;
  timeline.Add(1, 7, 10, 20);
  timeline.Add(1, 8, 30, 40);
  timeline.Add(2, 9, 10, 40);
  timeline.MakeTurns();
  EXPECT_EQ(timeline.TaskAt(1, 9), 0u);
  EXPECT_EQ(timeline.TaskAt(1, 10), 7u);
  EXPECT_EQ(timeline.TaskAt(1, 20), 7u);
  EXPECT_EQ(timeline.TaskAt(1, 21), 0u);
  EXPECT_EQ(timeline.TaskAt(1, 35), 8u);
  EXPECT_EQ(timeline.TaskAt(2, 35), 9u);
  EXPECT_EQ(timeline.TaskAt(2, 100), 0u);
  EXPECT_EQ(timeline.TaskAt(3, 35), 0u);
}

TEST(TaskTimelineTest, TimesMayBeAskedInAnyOrder) {
  TaskTimeline timeline;
  timeline.Add(1, 7, 10, 20);
  timeline.Add(1, 8, 21, 29);
  timeline.Add(1, 9, 40, 50);
  timeline.MakeTurns();
  for (const uint64_t first : {0, 15, 25, 35, 45, 99}) {
    for (const auto& [time_us, task] : {std::pair<uint64_t, uint32_t>{9, 0},
                                        {10, 7},
                                        {20, 7},
                                        {21, 8},
                                        {29, 8},
                                        {30, 0},
                                        {40, 9},
                                        {50, 9},
                                        {51, 0}}) {
      timeline.TaskAt(1, first);
      EXPECT_EQ(timeline.TaskAt(1, time_us), task) << first << " " << time_us;
    }
  }
}

// As eager tasks are, which begin within the step that makes them.
TEST(TaskTimelineTest, TheInnerOfTwoStepsCounts) {
  TaskTimeline timeline;
  timeline.Add(1, 2, 20, 30);  // the inner one ends first
  timeline.Add(1, 3, 40, 50);
  timeline.Add(1, 1, 10, 60);
  timeline.MakeTurns();
  EXPECT_EQ(timeline.TaskAt(1, 15), 1u);
  EXPECT_EQ(timeline.TaskAt(1, 25), 2u);
  EXPECT_EQ(timeline.TaskAt(1, 35), 1u);
  EXPECT_EQ(timeline.TaskAt(1, 45), 3u);
  EXPECT_EQ(timeline.TaskAt(1, 60), 1u);
  EXPECT_EQ(timeline.TaskAt(1, 61), 0u);
}

TEST(TaskTimelineTest, OfStepsInOneMicrosecondTheLaterCounts) {
  TaskTimeline timeline;
  timeline.Add(1, 1, 10, 10);
  timeline.Add(1, 2, 10, 10);
  timeline.MakeTurns();
  EXPECT_EQ(timeline.TaskAt(1, 10), 2u);
  EXPECT_EQ(timeline.TaskAt(1, 11), 0u);
}

TEST(TaskTimelineTest, WhatEndedBeforeIsForgottenAndTheRestGoesOn) {
  TaskTimeline timeline;
  timeline.Add(1, 7, 10, 20);
  timeline.Add(2, 9, 10, 20);
  timeline.Add(1, 8, 30, 40);
  timeline.MakeTurns();
  timeline.Forget(25);
  EXPECT_EQ(timeline.steps(), 1u);
  timeline.Add(1, 6, 5, 60);
  timeline.Add(2, 5, 50, 60);
  timeline.MakeTurns();
  EXPECT_EQ(timeline.TaskAt(1, 35), 8u);
  EXPECT_EQ(timeline.TaskAt(1, 45), 6u);
  EXPECT_EQ(timeline.TaskAt(2, 15), 0u);
  EXPECT_EQ(timeline.TaskAt(2, 55), 5u);
}

// From a damaged file.
TEST(TaskTimelineTest, StepsThatOverlapEndAll) {
  TaskTimeline timeline;
  timeline.Add(1, 1, 10, 30);
  timeline.Add(1, 2, 20, 40);
  timeline.MakeTurns();
  EXPECT_EQ(timeline.TaskAt(1, 15), 1u);
  EXPECT_EQ(timeline.TaskAt(1, 35), 2u);
  EXPECT_EQ(timeline.TaskAt(1, 41), 0u);
}

}  // namespace
}  // namespace pymemrun
