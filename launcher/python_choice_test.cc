#include "launcher/python_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PythonChoiceTest : public testing::Test {
 protected:
  std::string Environment(const std::string& name, const std::string& config) {
    folder_.Write(name + "/pyvenv.cfg", config);
    folder_.Write(name + "/bin/python", "", 0755);
    return folder_ / name;
  }

  std::string Choose(PythonWishes wishes) {
    wishes.built_in = "/usr/bin/python3";
    std::string program;
    error_.clear();
    if (!ChoosePython(wishes, "3.11", &program, &error_)) return {};
    return program;
  }

  TestFolder folder_;
  std::string error_;
};

TEST_F(PythonChoiceTest, TheBuiltInOneIfNothingIsWished) {
  EXPECT_EQ(Choose({}), "/usr/bin/python3");
  EXPECT_EQ(Choose({.virtual_env = folder_ / "gone"}), "/usr/bin/python3");
}

TEST_F(PythonChoiceTest, AnActiveEnvironmentIsUsed) {
  std::string venv = Environment("v", "home = /usr/bin\nversion = 3.11.2\n");
  EXPECT_EQ(Choose({.virtual_env = venv}), venv + "/bin/python");
  venv = Environment("w", "version_info = 3.11.9.final.0\n");
  EXPECT_EQ(Choose({.virtual_env = venv}), venv + "/bin/python");
}

TEST_F(PythonChoiceTest, ALinkToUsInAnEnvironmentMeansIt) {
  std::string venv = Environment("v", "version=3.11.2");
  EXPECT_EQ(Choose({.launcher = venv + "/bin/pymemrun"}), venv + "/bin/python");
}

TEST_F(PythonChoiceTest, OptionWinsAndMayNameAFolderOrABareName) {
  std::string active = Environment("v", "version = 3.12.1\n");
  std::string wished = Environment("w", "version = 3.11.2\n");
  EXPECT_EQ(Choose({.option = wished, .virtual_env = active}),
            wished + "/bin/python");
  EXPECT_EQ(Choose({.option = "python", .path = wished + "/bin"}), "python");
  EXPECT_EQ(Choose({.option = "python", .path = "/nowhere:"}), "");
}

TEST_F(PythonChoiceTest, AnotherVersionIsRefusedNamingBoth) {
  std::string venv = Environment("v", "version = 3.12.1\n");
  EXPECT_EQ(Choose({.virtual_env = venv}), "");
  EXPECT_THAT(error_, AllOf(HasSubstr("3.12;"), HasSubstr("3.11")));
  EXPECT_EQ(Choose({.option = venv + "/bin/python"}), "");
  EXPECT_THAT(error_, AllOf(HasSubstr("3.12;"), HasSubstr("3.11")));
}

TEST_F(PythonChoiceTest, WhatIsNoPythonIsRefused) {
  EXPECT_EQ(Choose({.option = folder_ / "gone"}), "");
  EXPECT_THAT(error_, HasSubstr("no python that can be run"));
  std::string tool = folder_.Write("bin/tool", "", 0755);
  EXPECT_EQ(Choose({.option = tool}), "");
  EXPECT_THAT(error_, HasSubstr("cannot tell its version"));
}

TEST_F(PythonChoiceTest, VersionFromTheLinkedNameOrTheLibrary) {
  std::string real = folder_.Write("a/bin/python3.10", "", 0755);
  ASSERT_EQ(symlink("python3.10", (folder_ / "a/bin/python").c_str()), 0);
  EXPECT_EQ(PythonVersionOf(folder_ / "a/bin/python"), "3.10");
  folder_.Write("b/bin/python", "", 0755);
  folder_.Write("b/lib/python3.9/os.py", "");
  EXPECT_EQ(PythonVersionOf(folder_ / "b/bin/python"), "3.9");
  folder_.Write("b/lib/python3.13/os.py", "");
  EXPECT_EQ(PythonVersionOf(folder_ / "b/bin/python"), "");
}

}  // namespace
}  // namespace pymemrun
