#include "launcher/session/lineage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pymemrun {
namespace {

TEST(LineageTest, TheStartIsTheTwentySecondField) {
  EXPECT_EQ(StartTicksIn("7 (python3) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 "
                         "0 1 0 4711 8 9"),
            4711u);
  EXPECT_EQ(StartTicksIn("7 (a) b) (c) S 1 7 7 0 -1 4194560 9 0 0 0 1 2 0 0 20 "
                         "0 1 0 4712 8 9"),
            4712u);
}

TEST(LineageTest, WhatIsCutHasNone) {
  for (const char* text : {"", "7", "7 (python3) S 1 7", "7 (x"}) {
    EXPECT_EQ(StartTicksIn(text), 0u) << text;
  }
}

TEST(LineageTest, AChildBeganNoEarlierThanItsParent) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const ProcessName ours = NameOfProcess(getpid());
  const ProcessName theirs = NameOfProcess(child);  // not reaped yet
  EXPECT_EQ(theirs.pid, child);
  EXPECT_GT(ours.start_ticks, 0u);
  EXPECT_GE(theirs.start_ticks, ours.start_ticks);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(NameOfProcess(child).start_ticks, 0u);
}

}  // namespace
}  // namespace pymemrun
