#include "launcher/session/collector_launch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

// Shell scripts play the collector; /proc shows them what they were given.
class CollectorLaunchTest : public testing::Test {
 protected:
  void SetUp() override {
    files_.region = Open("region");
    files_.reply = Open("reply");
    files_.output = Open("output");
    files_.pid = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
    files_.text = MakeLaunchText(LaunchTextOf({{"pid", "1"}, {"argv", "a b"}}));
  }
  void TearDown() override {
    for (int fd : {files_.region, files_.reply, files_.output, files_.pid,
                   files_.text}) {
      close(fd);
    }
  }

  int Open(const char* name) {
    return open((folder_ / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }

  // Starts `body` as the collector and waits until it has written `done`.
  std::string Run(const std::string& body) {
    std::string path = folder_.Write(
        "collector",
        "#!/bin/sh\n(" + body + ") > " + (folder_ / "tmp") + " 2>&1\nmv " +
            (folder_ / "tmp") + " " + (folder_ / "done") + "\n",
        0755);
    EXPECT_EQ(StartCollector(path, files_, &collector_), 0);
    for (int i = 0; i < 30000 && access((folder_ / "done").c_str(), F_OK);
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return TestFolder::Read(folder_ / "done");
  }

  TestFolder folder_;
  CollectorFiles files_;
  pid_t collector_ = 0;
};

TEST_F(CollectorLaunchTest, HasItsDescriptorsAndNothingElse) {
  int stranger = open("/dev/zero", O_RDONLY);  // not close-on-exec
  // 1 and 2 go to the script's own output, 10 is the shell's script.
  std::string seen = Run("cat <&6 | tr '\\0' '\\n'; ls -l /proc/$$/fd");
  close(stranger);
  EXPECT_THAT(seen, HasSubstr("pid=1\nargv=a b\n"));
  EXPECT_THAT(seen, HasSubstr("0 -> /dev/null"));
  EXPECT_THAT(seen, HasSubstr("3 -> " + (folder_ / "region")));
  EXPECT_THAT(seen, HasSubstr("4 -> " + (folder_ / "output")));
  EXPECT_THAT(seen, HasSubstr("5 -> anon_inode:[pidfd]"));
  EXPECT_EQ(seen.find("/dev/zero"), std::string::npos);
  EXPECT_THAT(seen, HasSubstr("7 -> " + (folder_ / "reply")));
  EXPECT_EQ(seen.find("8 -> "), std::string::npos);
}

TEST_F(CollectorLaunchTest, IsAnOrphanWithCleanSignalsAndEnvironment) {
  signal(SIGTERM, SIG_IGN);
  setenv("SECRET", "x", 1);
  std::string seen =
      Run("ps -o ppid=,sid=,pid= -p $$; cat /proc/$$/status; env");
  signal(SIGTERM, SIG_DFL);
  EXPECT_THAT(seen, HasSubstr("SigIgn:\t0000000000000000"));
  EXPECT_THAT(seen, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_EQ(seen.find("SECRET"), std::string::npos);
  EXPECT_EQ(seen.find("PPid:\t" + std::to_string(getpid()) + "\n"),
            std::string::npos);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST_F(CollectorLaunchTest, ItsProcessIsKnown) {
  const std::string itself = Run("echo $$");
  EXPECT_EQ(itself, std::to_string(collector_) + "\n");
}

TEST_F(CollectorLaunchTest, AStartThatFailsSaysWhy) {
  const auto start = [this](const std::string& path) {
    return StartCollector(path, files_, &collector_);
  };
  EXPECT_EQ(start(folder_ / "gone"), ENOENT);
  EXPECT_EQ(start(folder_.Write("bad", "x", 0644)), EACCES);
  EXPECT_EQ(start(folder_.Write("bad2", "\x7f", 0755)), ENOEXEC);
}

TEST_F(CollectorLaunchTest, NothingStaysOpen) {
  int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(before);
  Run("true");
  AskNameOf(folder_ / "gone", "x");
  int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(after);
  EXPECT_EQ(before, after);
}

TEST_F(CollectorLaunchTest, AsksARunFileForItsName) {
  std::string helper = folder_.Write(
      "helper", "#!/bin/sh\n[ \"$1\" = --name-of ] && echo \"name of $2\"\n",
      0755);
  EXPECT_EQ(AskNameOf(helper, "x y"), "name of x y");
  EXPECT_EQ(AskNameOf(folder_ / "gone", "x"), "");
}

TEST_F(CollectorLaunchTest, FindsTheOverrideOrNothing) {
  EXPECT_EQ(FindCollector("/bin/true"), "/bin/true");
  EXPECT_EQ(FindCollector(folder_ / "gone"), "");
}

}  // namespace
}  // namespace pymemrun
