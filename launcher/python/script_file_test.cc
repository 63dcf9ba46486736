#include "launcher/python/script_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

TEST(ScriptFileTest, APathOfAnInterpreterNamesOne) {
  TestFolder folder;
  EXPECT_TRUE(
      NamesInterpreter(folder.Write("p", "\177ELF then Py_BytesMain", 0755)));
  EXPECT_FALSE(NamesInterpreter(folder.Write("ls", "\177ELF", 0755)));
  EXPECT_FALSE(NamesInterpreter(folder.Write("x.py", "# Py_BytesMain\n")));
}

TEST(ScriptFileTest, ANameOfAPythonThatIsNoProgramHere) {
  for (const char* name : {"python", "python3", "python3.12"}) {
    EXPECT_TRUE(NamesInterpreter(name)) << name;
  }
  EXPECT_FALSE(NamesInterpreter("python-x"));
  EXPECT_FALSE(NamesInterpreter("pytest"));
  TestFolder folder;
  folder.Write("python/__main__.py", "");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  EXPECT_FALSE(NamesInterpreter("python"));
  folder.Write("python3", "print(1)\n");
  EXPECT_FALSE(NamesInterpreter("python3"));
  EXPECT_FALSE(NamesProgram("python3"));
  std::filesystem::current_path(before);
}

TEST(ScriptFileTest, ABareWordMayBeAProgram) {
  EXPECT_TRUE(NamesProgram("pytest"));
  for (const char* word : {"", "./pytest", "missing.py", "."}) {
    EXPECT_FALSE(NamesProgram(word)) << word;
  }
}

TEST(ScriptFileTest, AProgramBesideThePythonComesBeforePath) {
  TestFolder folder;
  std::string error;
  const std::string on_path =
      folder.Write("path/tool", "#!/usr/bin/env python3\n", 0755);
  const auto find = [&](const std::string& name) {
    return FindProgram(name, folder / "bin", folder / "path", &error);
  };
  EXPECT_EQ(find("tool"), on_path);
  const std::string beside =
      folder.Write("bin/tool", "#!/opt/bin/python3\n", 0755);
  EXPECT_EQ(find("tool"), beside);
  EXPECT_EQ(find("gone"), "");
  EXPECT_THAT(error, HasSubstr("a module runs with -m gone"));
  folder.Write("path/shell", "#!/bin/sh\n", 0755);
  EXPECT_EQ(find("shell"), "");
  EXPECT_THAT(error, HasSubstr("path/shell is not a Python program"));
}

}  // namespace
}  // namespace pymemrun
