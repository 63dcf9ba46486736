#include "readers/across_runs/processes/process_family.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/across_runs/processes/process_table.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

ProcessRun MakeRun(uint32_t pid, uint32_t parent_pid, uint64_t begin_us,
                   uint64_t end_us, std::vector<MemoryStep> steps = {}) {
  ProcessRun run;
  run.pid = pid;
  run.parent_pid = parent_pid;
  run.begin_us = begin_us;
  run.end_us = end_us;
  run.file = std::to_string(pid);
  run.steps = std::move(steps);
  return run;
}

std::vector<std::pair<std::string, size_t>> Tree(const ProcessFamily& family) {
  std::vector<std::pair<std::string, size_t>> tree;
  for (const FamilyMember& member : family.members()) {
    tree.emplace_back(member.run.file, member.depth);
  }
  return tree;
}

using Node = std::pair<std::string, size_t>;

TEST(ProcessFamilyTest, AParentComesBeforeItsChildren) {
  const ProcessFamily family({MakeRun(12, 11, 30, 90), MakeRun(10, 1, 0, 100),
                              MakeRun(13, 10, 40, 50), MakeRun(11, 10, 20, 60),
                              MakeRun(20, 1, 5, 6)});
  EXPECT_THAT(Tree(family),
              ElementsAre(Node("10", 0), Node("11", 1), Node("12", 2),
                          Node("13", 1), Node("20", 0)));
}

TEST(ProcessFamilyTest, APidThatIsUsedAgainIsAnotherProcess) {
  std::vector<ProcessRun> runs = {MakeRun(10, 1, 0, 10), MakeRun(10, 1, 20, 90),
                                  MakeRun(11, 10, 30, 40)};
  runs[0].file = "first";
  runs[0].start_ticks = 5;
  runs[1].start_ticks = 6;
  runs[2].parent_start_ticks = 5;
  EXPECT_THAT(Tree(ProcessFamily(runs)),
              ElementsAre(Node("first", 0), Node("11", 1), Node("10", 0)));
}

TEST(ProcessFamilyTest, WhoGrowsAndHowMuchOfItAtWhichLine) {
  constexpr uint64_t kMiB = 1 << 20;
  std::vector<ProcessRun> runs = {MakeRun(10, 1, 0, 10), MakeRun(11, 10, 3, 4)};
  for (ProcessRun& run : runs) {
    run.end = "exit 0";
    run.growth.bytes = run.peak_bytes = 40 * kMiB;
    run.growth.line = "a.py:4";
    run.growth.line_bytes = 30 * kMiB;
    run.growth.span_us = 2400000;
  }
  runs[1].growth.line_bytes = 10 * kMiB;
  EXPECT_EQ(ProcessNotes(ProcessFamily(runs)),
            "10 grew all the time, by 40.0 MiB in the last 2.400 s; most of it "
            "at a.py:4\n"
            "11 grew all the time, by 40.0 MiB in the last 2.400 s; 10.0 MiB "
            "of it at a.py:4\n");
}

TEST(ProcessFamilyTest, OtherEndsAreSummedUp) {
  std::vector<ProcessRun> runs;
  for (uint32_t pid = 10; pid < 20; ++pid) {
    runs.push_back(MakeRun(pid, 1, 0, 10));
    runs.back().end = pid < 12 ? "killed" : pid < 18 ? "exit 1" : "exit 0";
  }
  runs[9].untraced_children = 3;
  EXPECT_EQ(ProcessNotes(ProcessFamily(runs)),
            "6 processes: exit 1\n10, 11: killed\n3 child processes were not "
            "traced; pymemrun --follow all traces the Pythons among them\n");
}

TEST(ProcessFamilyTest, WhatGrewMostIsFirst) {
  std::vector<ProcessRun> runs = {MakeRun(10, 1, 0, 10), MakeRun(11, 10, 3, 4)};
  for (ProcessRun& run : runs) {
    run.end = "exit 0";
    run.growth.bytes = uint64_t{run.pid} << 20;
    run.growth.span_us = 2400000;
  }
  EXPECT_EQ(ProcessNotes(ProcessFamily(runs)),
            "11 grew all the time, by 11.0 MiB in the last 2.400 s\n"
            "10 grew all the time, by 10.0 MiB in the last 2.400 s\n");
}

TEST(ProcessFamilyTest, OtherHostsHaveOtherProcesses) {
  std::vector<ProcessRun> runs = {MakeRun(10, 1, 0, 10), MakeRun(11, 10, 3, 4)};
  runs[1].host = "elsewhere";
  EXPECT_THAT(Tree(ProcessFamily(runs)),
              ElementsAre(Node("10", 0), Node("11", 0)));
}

TEST(ProcessFamilyTest, TwoThatSayTheyBeganEachOtherAreNoCircle) {
  EXPECT_EQ(Tree(ProcessFamily({MakeRun(10, 11, 0, 9), MakeRun(11, 10, 0, 9)}))
                .size(),
            2u);
}

TEST(ProcessFamilyTest, KeepsATree) {
  ProcessFamily family({MakeRun(10, 1, 0, 100), MakeRun(11, 10, 20, 60),
                        MakeRun(12, 11, 30, 90), MakeRun(20, 10, 50, 60)});
  family.KeepTreeOf("11");
  EXPECT_THAT(Tree(family), ElementsAre(Node("11", 0), Node("12", 1)));
}

// 20 and its child were begun by a shell that 10 began; 30 came later. What 10
// became, another program, has its number.
TEST(ProcessFamilyTest, WhatOtherProgramsBeganMeanwhileIsKept) {
  std::vector<ProcessRun> runs = {
      MakeRun(10, 1, 0, 50),   MakeRun(11, 10, 10, 40), MakeRun(20, 15, 20, 60),
      MakeRun(21, 20, 30, 55), MakeRun(30, 1, 85, 90),  MakeRun(10, 1, 65, 80)};
  runs.back().file = "became";
  runs.push_back(MakeRun(40, 16, 25, 30));
  runs.back().forked = true;  // from a process of another run
  ProcessFamily family(std::move(runs));
  family.KeepTreeOf("10");
  EXPECT_THAT(Tree(family),
              ElementsAre(Node("10", 0), Node("11", 1), Node("20", 1),
                          Node("21", 2), Node("became", 1)));
}

TEST(ProcessFamilyTest, ThePeakOfTheSumIsNotTheSumOfThePeaks) {
  const ProcessFamily family(
      {MakeRun(10, 1, 0, 100, {{0, 10}, {50, 40}, {60, 10}}),
       MakeRun(11, 10, 20, 50, {{20, 100}, {30, 20}}),
       MakeRun(12, 10, 20, 90, {{20, 5}, {80, 90}})});
  const FamilyPeak peak = family.Peak();
  EXPECT_EQ(peak.bytes, 115u);
  EXPECT_EQ(peak.time_us, 20u);
  EXPECT_THAT(peak.shares, ElementsAre(10, 100, 5));
  EXPECT_EQ(peak.sum_of_peaks_bytes, 40u + 100u + 90u);
  EXPECT_EQ(family.BeginUs(), 0u);
  EXPECT_EQ(family.EndUs(), 100u);
}

// What it had is free for the one that comes.
TEST(ProcessFamilyTest, AProcessThatEndedHasNothing) {
  const FamilyPeak peak =
      ProcessFamily({MakeRun(10, 1, 0, 50, {{0, 70}, {50, 80}}),
                     MakeRun(11, 1, 50, 90, {{50, 60}})})
          .Peak();
  EXPECT_EQ(peak.bytes, 70u);
  EXPECT_EQ(peak.sum_of_peaks_bytes, 130u);
}

}  // namespace
}  // namespace pymemrun
