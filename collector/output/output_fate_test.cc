#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "collector/output/run_writer.h"

namespace pymemrun {
namespace {

class OutputFateTest : public testing::Test {
 protected:
  OutputFateTest() : fd_(mkstemp(path_.data())) {}
  ~OutputFateTest() override {
    unlink(path_.c_str());
    unlink(other_.c_str());
    close(fd_);
  }
  std::string path_ = "/tmp/output_fate_test_XXXXXX";
  const int fd_;
  const std::string other_ = path_ + ".other";
};

TEST_F(OutputFateTest, AFileThatIsWhereItWas) {
  const OutputFate fate = FateOfOutput(fd_, path_);
  EXPECT_EQ(fate.name, Footer::OUTPUT_KEPT);
  EXPECT_EQ(fate.path, path_);
}

TEST_F(OutputFateTest, AFileWithoutANameIsDeleted) {
  unlink(path_.c_str());
  EXPECT_EQ(FateOfOutput(fd_, path_).name, Footer::OUTPUT_DELETED);
}

TEST_F(OutputFateTest, AnotherFileOfTheNameIsNotIt) {
  unlink(path_.c_str());
  fclose(fopen(path_.c_str(), "w"));
  EXPECT_EQ(FateOfOutput(fd_, path_).name, Footer::OUTPUT_DELETED);
}

TEST_F(OutputFateTest, ARenamedFileIsFoundUnderItsNewName) {
  ASSERT_EQ(rename(path_.c_str(), other_.c_str()), 0);
  OutputFate fate = FateOfOutput(fd_, path_);
  EXPECT_EQ(fate.name, Footer::OUTPUT_MOVED);
  EXPECT_EQ(fate.path, other_);
  fclose(fopen(path_.c_str(), "w"));  // another one has its place
  fate = FateOfOutput(fd_, path_);
  EXPECT_EQ(fate.name, Footer::OUTPUT_MOVED);
  EXPECT_EQ(fate.path, other_);
}

TEST_F(OutputFateTest, WhereOnlyALinkIsLeftNobodyKnows) {
  ASSERT_EQ(link(path_.c_str(), other_.c_str()), 0);
  unlink(path_.c_str());
  const OutputFate fate = FateOfOutput(fd_, path_);
  EXPECT_EQ(fate.name, Footer::OUTPUT_MOVED);
  EXPECT_EQ(fate.path, path_);
}

TEST_F(OutputFateTest, WhatCannotBeSeenIsTakenToBeKept) {
  EXPECT_EQ(FateOfOutput(fd_, "run.pb").name, Footer::OUTPUT_KEPT);
  EXPECT_EQ(FateOfOutput(-1, path_).name, Footer::OUTPUT_KEPT);
}

}  // namespace
}  // namespace pymemrun
