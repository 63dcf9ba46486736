#include "launcher/python/path_python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

class PathPythonTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_.Write("pyenv/shims/python3", "#!/usr/bin/env bash\n", 0755);
    for (const char* version : {"3.9.2", "3.12.1", "3.12.11", "3.12-dev"}) {
      folder_.Write(std::string("pyenv/versions/") + version + "/bin/python3",
                    "\x7f_ELF Py_BytesMain", 0755);
    }
    std::filesystem::create_directories(folder_ / "pyenv/versions/2.7.1");
    system_ = folder_.Write("bin/python3", "\x7f_ELF Py_BytesMain", 0755);
    std::filesystem::create_directories(folder_ / "project/deep");
  }
  PathPython Find(const std::string& variable = "") {
    return FindPathPython(folder_ / "pyenv/shims" + ":" + (folder_ / "bin"),
                          folder_ / "project/deep", variable);
  }
  std::string Version(const std::string& name) {
    return folder_ / "pyenv/versions/" + name + "/bin/python3";
  }

  TestFolder folder_;
  std::string system_;
};

TEST_F(PathPythonTest, TheFirstOnPath) {
  EXPECT_EQ(FindPathPython("/nowhere:" + (folder_ / "bin"), "/", "").file,
            system_);
  EXPECT_EQ(FindPathPython("/nowhere", "/", "").file, "");
}

TEST_F(PathPythonTest, PyenvsVersionByVariableThenFolderThenItsOwnFile) {
  EXPECT_EQ(Find().file, system_);
  folder_.Write("pyenv/version", "3.9.2\n");
  EXPECT_EQ(Find().file, Version("3.9.2"));
  folder_.Write("project/.python-version", "# ours\n3.12.1\n3.9.2\n");
  EXPECT_EQ(Find().file, Version("3.12.1"));
  EXPECT_THAT(Find().by, HasSubstr("project/.python-version: "));
  EXPECT_EQ(Find("2.7.1:3.9.2").file, Version("3.9.2"));
  EXPECT_EQ(Find("system").file, system_);
}

TEST_F(PathPythonTest, ALineOfVersionsMeansItsNewestRelease) {
  EXPECT_EQ(Find("3.12").file, Version("3.12.11"));
  EXPECT_EQ(Find("python-3.12").file, Version("3.12.11"));
  EXPECT_EQ(Find("3.1").file, "");
}

TEST_F(PathPythonTest, WhatIsNotThereIsNamed) {
  EXPECT_THAT(Find("3.99").problem, HasSubstr("no 3.99, which $PYENV_VERSION"));
  EXPECT_THAT(Find("2.7.1").problem, HasSubstr("has no python3"));
}

TEST_F(PathPythonTest, ANameThatLeadsElsewhereIsNone) {
  folder_.Write("evil/bin/python3", "\x7f_ELF Py_BytesMain", 0755);
  EXPECT_EQ(Find("../../evil").file, system_);
  EXPECT_EQ(Find(folder_ / "evil").file, system_);
}

}  // namespace
}  // namespace pymemrun
