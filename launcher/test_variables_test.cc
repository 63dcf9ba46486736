#include "launcher/test_variables.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

class TestVariablesTest : public testing::Test {
 protected:
  TestVariablesTest() : program_(folder_.Write("bin/pymemrun", "")) {
    // ctest passes on what its caller has set.
    unsetenv("PYMEMRUN_COLLECTOR");
    unsetenv("PYMEMRUN_TEST_KILLS");
    unsetenv("PYMEMRUN_TEST_PYTHON");
  }
  ~TestVariablesTest() override {
    unsetenv("PYMEMRUN_COLLECTOR");
    unsetenv("PYMEMRUN_TEST_SYS_EXECUTABLE");
  }

  void IsOfBuildTree() {
    folder_.Write(std::string("bin/") + kBuildTreeMark, "");
  }
  bool Read() { return ReadTestVariables(program_, &variables_, &error_); }

  TestFolder folder_;
  const std::string program_;
  TestVariables variables_;
  std::string error_;
};

TEST_F(TestVariablesTest, NoneIsSet) {
  EXPECT_TRUE(Read());
  EXPECT_EQ(variables_.collector, "");
  EXPECT_FALSE(variables_.executable_is_ours);
}

TEST_F(TestVariablesTest, ABuildTreesProgramHeedsThem) {
  IsOfBuildTree();
  setenv("PYMEMRUN_COLLECTOR", "/some/where", 1);
  setenv("PYMEMRUN_TEST_SYS_EXECUTABLE", "launcher", 1);
  EXPECT_TRUE(Read());
  EXPECT_EQ(variables_.collector, "/some/where");
  EXPECT_TRUE(variables_.executable_is_ours);
}

TEST_F(TestVariablesTest, AnInstalledProgramRefusesEach) {
  for (const char* name : {"PYMEMRUN_COLLECTOR", "PYMEMRUN_TEST_SYS_EXECUTABLE",
                           "PYMEMRUN_TEST_NEW"}) {
    setenv(name, "x", 1);
    EXPECT_FALSE(Read()) << name;
    EXPECT_EQ(error_,
              std::string(name) + " is for pymemrun's own tests; unset it");
    EXPECT_EQ(variables_.collector, "");
    unsetenv(name);
  }
}

TEST_F(TestVariablesTest, AProgramThatCannotFindItselfRefusesThem) {
  IsOfBuildTree();
  setenv("PYMEMRUN_COLLECTOR", "/some/where", 1);
  EXPECT_FALSE(ReadTestVariables("", &variables_, &error_));
}

TEST_F(TestVariablesTest, EmptyOnesAreNotSetAndOthersAreNotTheirs) {
  setenv("PYMEMRUN_COLLECTOR", "", 1);
  setenv("PYMEMRUN_COLLECTOR_BIN", "x", 1);
  setenv("PYMEMRUN_TESTED", "x", 1);
  EXPECT_TRUE(Read()) << error_;
  unsetenv("PYMEMRUN_COLLECTOR_BIN");
  unsetenv("PYMEMRUN_TESTED");
}

}  // namespace
}  // namespace pymemrun
