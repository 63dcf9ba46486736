#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "collector/session/run_end.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// A shell script stands for pymemreport.
class AskForAnswerTest : public ::testing::Test {
 protected:
  AskForAnswerTest() {
    EXPECT_NE(mkdtemp(folder_), nullptr);
    program_ = absl::StrCat(folder_, "/program");
    file_ = absl::StrCat(folder_, "/run.pb");
    std::ofstream(file_) << "the run\n";
    fd_ = open(file_.c_str(), O_WRONLY | O_CLOEXEC);
  }
  ~AskForAnswerTest() override {
    close(fd_);
    unlink(program_.c_str());
    unlink(file_.c_str());
    rmdir(folder_);
  }
  std::string Ask(const std::string& script, int most_ms = 60000) {
    std::ofstream(program_) << "#!/bin/sh\n" << script << "\n";
    chmod(program_.c_str(), 0700);
    return AskForAnswer(program_, fd_, 70, most_ms, [this] { ++beats_; });
  }

  char folder_[32] = "/tmp/answer_test.XXXXXX";
  std::string program_, file_;
  int fd_ = -1;
  int beats_ = 0;
};

TEST_F(AskForAnswerTest, TheProgramReadsTheFileWhateverItsName) {
  unlink(file_.c_str());
  EXPECT_EQ(Ask("echo $1 $2 $COLUMNS $HOME; cat $3"),
            "report --brief 70\nthe run\n");
}

TEST_F(AskForAnswerTest, ItHasNoOtherDescriptors) {
  // 10 and up are the shell's own.
  EXPECT_EQ(Ask("for n in 0 1 2 3 4 5 6 7 8 9; do "
                "[ -e /proc/$$/fd/$n ] && printf \"$n \"; done; true"),
            "0 1 2 3 ");
}

TEST_F(AskForAnswerTest, AFailureIsNoAnswer) {
  EXPECT_EQ(Ask("echo text; exit 1"), "");
  EXPECT_EQ(Ask("echo text; kill -9 $$"), "");
  EXPECT_EQ(AskForAnswer("", fd_, 70, 1000, [] {}), "");
  EXPECT_EQ(AskForAnswer(folder_, fd_, 70, 1000, [] {}), "");
}

TEST_F(AskForAnswerTest, WhatTakesTooLongIsKilled) {
  EXPECT_EQ(Ask("echo text; exec sleep 1000", 120), "");
  EXPECT_GT(beats_, 1);
}

TEST_F(AskForAnswerTest, TooMuchTextIsNoAnswer) {
  EXPECT_EQ(Ask("exec yes"), "");
}

TEST_F(AskForAnswerTest, LargeFilesAndPipesAreNotRead) {
  ASSERT_EQ(ftruncate(fd_, kMostAnsweredBytes + 1), 0);
  EXPECT_EQ(Ask("echo text"), "");
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  EXPECT_EQ(AskForAnswer(program_, fds[1], 70, 1000, [] {}), "");
  close(fds[0]);
  close(fds[1]);
}

}  // namespace
}  // namespace pymemrun
