#include "launcher/python/python_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class PythonChoiceTest : public testing::Test {
 protected:
  void SetUp() override {
    Installation("usr");
    built_in_ = folder_ / "usr/bin/python3.11";
  }

  void Installation(const std::string& name) {
    folder_.Write(name + "/bin/python3.11", "\x7f_ELF Py_BytesMain", 0755);
    folder_.Write(name + "/lib/python3.11/os.py", "");
  }

  // An environment whose python links to that of the installation `home`.
  std::string Environment(const std::string& name, const std::string& version,
                          const std::string& home = "usr") {
    folder_.Write(
        name + "/pyvenv.cfg",
        "home = " + (folder_ / home) + "/bin\nversion = " + version + "\n");
    std::filesystem::create_directories(folder_ / name + "/bin");
    std::filesystem::create_symlink(folder_ / home + "/bin/python3.11",
                                    folder_ / name + "/bin/python");
    return folder_ / name;
  }

  std::string Choose(PythonWishes wishes,
                     Delivery delivery = Delivery::kEmbed) {
    wishes.built_in = built_in_;
    error_.clear();
    const std::string version = built_in_.empty() ? "" : "3.11.2+";
    if (!ChoosePython(wishes, version, delivery, &choice_, &error_)) {
      return {};
    }
    return choice_.program;
  }

  TestFolder folder_;
  std::string built_in_;
  PythonChoice choice_;
  std::string error_;
};

TEST_F(PythonChoiceTest, TheBuiltInOneIfNothingIsWished) {
  EXPECT_EQ(Choose({}), built_in_);
  EXPECT_EQ(Choose({.virtual_env = folder_ / "gone"}), built_in_);
}

TEST_F(PythonChoiceTest, AnActiveEnvironmentIsUsed) {
  std::string venv = Environment("v", "3.11.2");
  EXPECT_EQ(Choose({.virtual_env = venv}), venv + "/bin/python");
}

TEST_F(PythonChoiceTest, AnEnvironmentOfOursMayStateAnEarlierPatch) {
  std::string venv = Environment("v", "3.11.1");
  EXPECT_EQ(Choose({.virtual_env = venv}), venv + "/bin/python") << error_;
}

TEST_F(PythonChoiceTest, AnotherInstallationsPatchMustBeOurs) {
  Installation("opt");
  std::string same = Environment("same", "3.11.2.final.0", "opt");
  EXPECT_EQ(Choose({.virtual_env = same}), same + "/bin/python") << error_;
  std::string other = Environment("other", "3.11.7", "opt");
  EXPECT_EQ(Choose({.option = other}), "");
  EXPECT_THAT(error_, AllOf(HasSubstr("is Python 3.11.7;"),
                            HasSubstr("runs Python 3.11.2+")));
  // What the installation's headers say now, whenever the environment was made.
  folder_.Write("opt/include/python3.11/patchlevel.h",
                "#define PY_VERSION \"3.11.7\"\n");
  EXPECT_EQ(Choose({.virtual_env = same}), "");
  EXPECT_THAT(error_, HasSubstr("is Python 3.11.7;"));
  EXPECT_EQ(Choose({.option = folder_ / "opt/bin/python3.11"}), "");
  EXPECT_THAT(error_, HasSubstr("is Python 3.11.7;"));
}

TEST_F(PythonChoiceTest, AnInstallationThatDoesNotTellItsPatchIsRefused) {
  Installation("opt");
  EXPECT_EQ(Choose({.option = folder_ / "opt/bin/python3.11"}), "");
  EXPECT_THAT(error_, HasSubstr("patchlevel.h is missing"));
}

TEST_F(PythonChoiceTest, ALinkToUsInAnEnvironmentMeansIt) {
  std::string venv = Environment("v", "3.11.2");
  EXPECT_EQ(Choose({.launcher = venv + "/bin/pymemrun"}), venv + "/bin/python");
}

TEST_F(PythonChoiceTest, OptionWinsAndMayNameAFolderOrABareName) {
  std::string active = Environment("v", "3.12.1");
  std::string wished = Environment("w", "3.11.2");
  EXPECT_EQ(Choose({.option = wished, .virtual_env = active}),
            wished + "/bin/python");
  EXPECT_EQ(Choose({.option = "python", .path = wished + "/bin"}), "python");
  EXPECT_EQ(Choose({.option = "python", .path = "/nowhere:"}), "");
}

TEST_F(PythonChoiceTest, AnotherVersionIsRefusedNamingBoth) {
  std::string venv = Environment("v", "3.12.1");
  EXPECT_EQ(Choose({.virtual_env = venv}), "");
  EXPECT_THAT(error_, AllOf(HasSubstr("3.12;"), HasSubstr("3.11")));
  EXPECT_EQ(Choose({.option = venv + "/bin/python"}), "");
  EXPECT_THAT(error_, AllOf(HasSubstr("3.12;"), HasSubstr("3.11")));
}

TEST_F(PythonChoiceTest, WhatCannotBeEmbeddedRunsItself) {
  const std::string other = Environment("v", "3.12.1");
  EXPECT_EQ(Choose({.virtual_env = other}, Delivery::kAuto),
            other + "/bin/python");
  EXPECT_FALSE(choice_.embedded);
  EXPECT_EQ(
      Choose({.option = "python", .path = other + "/bin"}, Delivery::kAuto),
      "python");
  EXPECT_EQ(choice_.file, other + "/bin/python");
  const std::string ours = Environment("w", "3.11.2");
  EXPECT_EQ(Choose({.virtual_env = ours}, Delivery::kAuto),
            ours + "/bin/python");
  EXPECT_TRUE(choice_.embedded);
  EXPECT_EQ(Choose({.virtual_env = ours}, Delivery::kPreload),
            ours + "/bin/python");
  EXPECT_FALSE(choice_.embedded);
  EXPECT_EQ(Choose({}, Delivery::kPreload), built_in_);
  EXPECT_FALSE(choice_.embedded);
}

TEST_F(PythonChoiceTest, TheScriptsOwnInterpreterIsTaken) {
  const std::string venv = Environment("v", "3.12.1");
  const std::string script =
      folder_.Write("v/bin/tool", "#!" + venv + "/bin/python -I\npass\n");
  EXPECT_EQ(Choose({.script = script}, Delivery::kAuto), venv + "/bin/python");
  EXPECT_FALSE(choice_.embedded);
  const std::string active = Environment("w", "3.11.2");
  EXPECT_EQ(Choose({.virtual_env = active, .script = script}, Delivery::kAuto),
            active + "/bin/python");
  for (const char* line : {"#!/usr/bin/env python3\n", "#!/bin/sh\n", "#!",
                           "# python\n", "", "#! /nowhere/python3\n"}) {
    const std::string other = folder_.Write("other.py", line);
    EXPECT_EQ(Choose({.script = other}), built_in_) << line;
  }
  EXPECT_EQ(Choose({.script = folder_ / "gone"}), built_in_);
  EXPECT_EQ(Choose({.script = folder_ / "v"}), built_in_);
}

// As pip writes scripts where a first line cannot name the interpreter.
TEST_F(PythonChoiceTest, TheInterpreterOfAScriptByTheShellIsTaken) {
  const std::string spaced = Environment("my venv", "3.12.1") + "/bin/python";
  const std::string by_shell = "#!/bin/sh\n'''exec' ";
  const std::string quoted = folder_.Write(
      "quoted", by_shell + '"' + spaced + "\" \"$0\" \"$@\"\n' '''\npass\n");
  EXPECT_EQ(Choose({.script = quoted}, Delivery::kAuto), spaced);
  const std::string plain = Environment("v", "3.12.1") + "/bin/python";
  const std::string unquoted = folder_.Write(
      "unquoted", by_shell + plain + " \"$0\" \"$@\"\n' '''\npass\n");
  EXPECT_EQ(Choose({.script = unquoted}, Delivery::kAuto), plain);
  for (const char* rest : {"\"/no end", "/nowhere/python3 ", "", "\""}) {
    const std::string other = folder_.Write("other", by_shell + rest);
    EXPECT_EQ(Choose({.script = other}), built_in_) << rest;
  }
}

TEST_F(PythonChoiceTest, TheNearestDotVenvIsTaken) {
  const std::string venv = Environment("project/.venv", "3.11.2");
  std::filesystem::create_directories(folder_ / "project/src/.venv");
  for (const char* folder : {"project", "project/src", "project/src/deep"}) {
    EXPECT_EQ(Choose({.folder = folder_ / folder}), venv + "/bin/python");
  }
  EXPECT_EQ(Choose({.folder = folder_ / "usr"}), built_in_);
}

// Whoever may change an environment runs code as whoever runs its Python.
TEST_F(PythonChoiceTest, ADotVenvThatOthersMayChangeIsLeftOut) {
  const std::string venv = Environment("project/.venv", "3.11.2");
  const PythonWishes wishes = {.folder = folder_ / "project/src"};
  folder_.Write("project/.venv/lib/python3.11/site-packages/x.py", "");
  for (const char* part :
       {"project", "project/.venv", "project/.venv/pyvenv.cfg",
        "project/.venv/bin", "project/.venv/lib/python3.11/site-packages",
        "usr/bin/python3.11", "usr/lib/python3.11"}) {
    const std::string path = folder_ / part;
    ASSERT_EQ(chmod(path.c_str(), 0777), 0);
    EXPECT_EQ(Choose(wishes), built_in_) << part;
    EXPECT_THAT(choice_.refused,
                AllOf(HasSubstr(venv + " is ignored"), HasSubstr(path),
                      HasSubstr("; " + built_in_ + " runs")));
    EXPECT_EQ(Choose({.option = venv}), venv + "/bin/python");
    EXPECT_EQ(choice_.refused, "");
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  }
  EXPECT_EQ(Choose(wishes), venv + "/bin/python");
  EXPECT_EQ(choice_.refused, "");
}

TEST_F(PythonChoiceTest, AnEnvironmentOnPathIsActive) {
  const std::string venv = Environment("opt/venv", "3.12.1");
  std::filesystem::create_symlink("python", venv + "/bin/python3");
  Environment("project/.venv", "3.11.2");
  const PythonWishes wishes = {.folder = folder_ / "project",
                               .path = venv + "/bin:/usr/bin"};
  EXPECT_EQ(Choose(wishes, Delivery::kAuto), venv + "/bin/python3");
  EXPECT_FALSE(choice_.embedded);
  // What it cannot run is said, and the next one runs.
  EXPECT_EQ(Choose(wishes), folder_ / "project/.venv/bin/python");
  EXPECT_THAT(choice_.refused, AllOf(HasSubstr("is Python 3.12"),
                                     HasSubstr(".venv/bin/python runs")));
  PythonWishes untraced = wishes;
  untraced.why_not = [](const std::string&) { return std::string("too old"); };
  EXPECT_EQ(Choose(untraced, Delivery::kAuto),
            folder_ / "project/.venv/bin/python");
  EXPECT_THAT(choice_.refused, HasSubstr("too old; "));
}

TEST_F(PythonChoiceTest, Python3OnPathComesBeforeTheBuiltInOne) {
  const std::string python =
      folder_.Write("conda/bin/python3", "\x7f_ELF Py_BytesMain", 0755);
  folder_.Write("conda/lib/python3.12/os.py", "");
  EXPECT_EQ(Choose({.path = folder_ / "conda/bin"}, Delivery::kAuto), python);
  const std::string venv = Environment("project/.venv", "3.11.2");
  EXPECT_EQ(
      Choose({.folder = folder_ / "project", .path = folder_ / "conda/bin"}),
      venv + "/bin/python");
  EXPECT_THAT(choice_.preferred, HasSubstr("python3 on PATH: " + python));
  const std::string shim = folder_.Write("shims/python3", "#!/bin/sh\n", 0755);
  EXPECT_EQ(Choose({.path = folder_ / "shims"}), built_in_);
  EXPECT_THAT(choice_.refused,
              AllOf(HasSubstr(shim), HasSubstr(built_in_ + " runs")));
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::create_symlink(built_in_, folder_ / "bin/python3");
  EXPECT_EQ(Choose({.path = folder_ / "bin"}), built_in_);
  EXPECT_TRUE(choice_.embedded);
  EXPECT_EQ(choice_.refused, "");
}

TEST_F(PythonChoiceTest, TheProjectsEnvironmentComesBeforeThatOfTheLauncher) {
  const std::string ours = Environment("tools/pymemrun", "3.11.2");
  const std::string project = Environment("project/.venv", "3.11.2");
  EXPECT_EQ(Choose({.folder = folder_ / "project",
                    .launcher = ours + "/bin/pymemrun"}),
            project + "/bin/python");
}

TEST_F(PythonChoiceTest, WithNothingEmbeddedThePythonBesideUsOrOnPath) {
  built_in_.clear();
  const std::string python =
      folder_.Write("opt/bin/python3", "\x7f_ELF Py_BytesMain", 0755);
  const std::string bin = folder_ / "opt/bin";
  EXPECT_EQ(Choose({.path = "/nowhere:" + bin}, Delivery::kAuto), python);
  EXPECT_FALSE(choice_.embedded);
  EXPECT_EQ(Choose({.launcher = bin + "/pymemrun", .path = "/nowhere"},
                   Delivery::kPreload),
            python);
  EXPECT_EQ(Choose({.path = "/nowhere"}, Delivery::kAuto), "");
  EXPECT_THAT(error_, HasSubstr("no python3 on PATH"));
  const std::string shim = folder_.Write("shims/python3", "#!/bin/sh\n", 0755);
  EXPECT_EQ(Choose({.path = folder_ / "shims"}, Delivery::kAuto), "");
  EXPECT_THAT(error_, AllOf(HasSubstr(shim), HasSubstr("is not a Python")));
}

TEST_F(PythonChoiceTest, WithNothingEmbeddedNothingCanBe) {
  built_in_.clear();
  const std::string venv = Environment("v", "3.11.2");
  EXPECT_EQ(Choose({.virtual_env = venv}), "");
  EXPECT_THAT(error_, HasSubstr("has no built-in interpreter"));
  EXPECT_EQ(Choose({.virtual_env = venv}, Delivery::kAuto),
            venv + "/bin/python");
  EXPECT_FALSE(choice_.embedded);
}

TEST_F(PythonChoiceTest, WhatIsNoPythonIsRefused) {
  EXPECT_EQ(Choose({.option = folder_ / "gone"}), "");
  EXPECT_THAT(error_, HasSubstr("is not an executable Python"));
  // Beside a python's library, as /bin/ls is.
  std::string tool = folder_.Write("usr/bin/tool", "\x7f_ELF", 0755);
  EXPECT_EQ(Choose({.option = tool}), "");
  EXPECT_THAT(error_, HasSubstr("is not a Python interpreter"));
  tool = folder_.Write("bin/tool", "\x7f_ELF Py_BytesMain", 0755);
  EXPECT_EQ(Choose({.option = tool}), "");
  EXPECT_THAT(error_, HasSubstr("its version is unknown"));
  EXPECT_EQ(Choose({.option = folder_ / "gone"}, Delivery::kPreload), "");
  EXPECT_EQ(Choose({.option = tool}, Delivery::kPreload), tool);  // it may run
}

}  // namespace
}  // namespace pymemrun
