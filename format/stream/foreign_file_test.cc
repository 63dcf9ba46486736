#include "format/stream/foreign_file.h"

#include <string>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ForeignFile, IsCalledWhatPeopleCallIt) {
  EXPECT_EQ(FileKind(""), "an empty file");
  EXPECT_EQ(FileKind("#!/usr/bin/python3\nimport os\n"), "a text file");
  EXPECT_EQ(FileKind("{\"a\": \"\xc3\xa4\"}\r\n"), "a text file");
  EXPECT_EQ(FileKind("\x1f\x8b\x08"), "a gzip file");
  EXPECT_EQ(FileKind("\x80\x04\x95\x09"), "a Python pickle");
  EXPECT_EQ(FileKind("\x7f"
                     "ELF\x02"),
            "a program");
  EXPECT_EQ(FileKind(std::string("\0\1\2\3\4", 5)),
            "a file that begins with 00 01 02 03");
  EXPECT_EQ(FileKind("a\x1b[31m"), "a file that begins with 61 1b 5b 33");
}

TEST(ForeignFile, IsRefusedInOneLine) {
  EXPECT_EQ(
      NotARunFile("hello\n"),
      absl::InvalidArgumentError("not a pymemrun run file: found a text file"));
}

}  // namespace
}  // namespace pymemrun
