#include "text/shell_text.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ShellWordTest, PlainNamesStayAsTheyAre) {
  EXPECT_EQ(ShellWord("runs/my-run_1.2+3.pb"), "runs/my-run_1.2+3.pb");
  EXPECT_EQ(ShellWord("-"), "-");
}

TEST(ShellWordTest, AnOptionStaysOneAsAnArgument) {
  EXPECT_EQ(ShellWord("-m"), "./-m");
  EXPECT_EQ(ShellArgument("-m"), "-m");
  EXPECT_EQ(ShellArgument("x = 1"), "'x = 1'");
}

TEST(ShellWordTest, OthersAreQuoted) {
  EXPECT_EQ(ShellWord("sp ace/run.pb"), "'sp ace/run.pb'");
  EXPECT_EQ(ShellWord("a;b$c"), "'a;b$c'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord("~/run"), "'~/run'");
  EXPECT_EQ(ShellWord("a\\b"), "'a\\b'");
  EXPECT_EQ(ShellWord("gr\xc3\xb6\xc3\x9f"
                      "e"),
            "'gr\xc3\xb6\xc3\x9f"
            "e'");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("=ls"), "'=ls'");
  EXPECT_EQ(ShellWord("a=ls"), "a=ls");
}

TEST(ShellWordTest, NoOptionComesOfAName) {
  EXPECT_EQ(ShellWord("-x.pb"), "./-x.pb");
  EXPECT_EQ(ShellWord("-x y"), "'./-x y'");
}

TEST(ShellWordTest, TerminalsAreSpared) {
  EXPECT_EQ(ShellWord("a\x1b[m'\\ \xff"), "$'a\\x1b[m\\'\\\\ \\xff'");
}

}  // namespace
}  // namespace pymemrun
