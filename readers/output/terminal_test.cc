#include "readers/output/terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class TerminalTest : public ::testing::Test {
 protected:
  TerminalTest() {
    for (const char* const name :
         {"COLUMNS", "NO_COLOR", "TERM", "LC_ALL", "LC_CTYPE", "LANG"}) {
      unsetenv(name);
    }
    tty_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_GE(tty_, 0);
  }
  ~TerminalTest() override {
    close(tty_);
    unsetenv("COLUMNS");
    unsetenv("NO_COLOR");
    unsetenv("TERM");
    unsetenv("LANG");
  }
  void SetColumns(unsigned short columns) {
    winsize size = {};
    size.ws_col = columns;
    ASSERT_EQ(ioctl(tty_, TIOCSWINSZ, &size), 0);
  }
  int tty_ = -1;
};

TEST_F(TerminalTest, WhatIsNoTerminalHasNoLimit) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const Terminal terminal = Terminal::Of(fds[1]);
  EXPECT_FALSE(terminal.fits());
  EXPECT_FALSE(terminal.colors);
  EXPECT_TRUE(Terminal::Of(fds[1], ColorMode::kAlways).colors);
  EXPECT_EQ(terminal.Wrapped("a b\nc\n", 1), "a b\nc\n");
  close(fds[0]);
  close(fds[1]);
}

TEST_F(TerminalTest, TheWidthIsTheUsersOrTheTerminals) {
  SetColumns(0);
  EXPECT_EQ(Terminal::Of(tty_).columns, 80u);
  SetColumns(132);
  EXPECT_EQ(Terminal::Of(tty_).columns, 132u);
  setenv("COLUMNS", "60", 1);
  EXPECT_EQ(Terminal::Of(tty_).columns, 60u);
  setenv("COLUMNS", "3", 1);
  EXPECT_EQ(Terminal::Of(tty_).columns, 40u);
  setenv("COLUMNS", "wide", 1);
  EXPECT_EQ(Terminal::Of(tty_).columns, 132u);
}

TEST_F(TerminalTest, ColoursAreOnlyOnATerminalThatWantsThem) {
  EXPECT_TRUE(Terminal::Of(tty_).colors);
  EXPECT_FALSE(Terminal::Of(tty_, ColorMode::kNever).colors);
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(Terminal::Of(tty_).colors);
  unsetenv("TERM");
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Terminal::Of(tty_).colors);
  EXPECT_TRUE(Terminal::Of(tty_, ColorMode::kAlways).colors);
}

TEST_F(TerminalTest, TheLocaleSaysWhichCharacters) {
  EXPECT_TRUE(Terminal::Of(tty_).unicode);
  setenv("LANG", "de_DE.ISO-8859-1", 1);
  EXPECT_FALSE(Terminal::Of(tty_).unicode);
  setenv("LANG", "C.UTF-8", 1);
  EXPECT_TRUE(Terminal::Of(tty_).unicode);
}

TEST_F(TerminalTest, LinesAreBrokenAtSpacesAndLongWordsAnywhere) {
  Terminal terminal;
  terminal.columns = 10;
  EXPECT_EQ(terminal.Wrapped("one two three four\nfive\n", 2),
            "one two\n  three\n  four\nfive\n");
  EXPECT_EQ(terminal.Wrapped("a 12345678901234567890\n", 2),
            "a 12345678\n  90123456\n  7890\n");
  EXPECT_EQ(terminal.Wrapped("", 2), "");
  EXPECT_EQ(terminal.Wrapped("name    v", 2), "name    v\n");
}

}  // namespace
}  // namespace pymemrun
