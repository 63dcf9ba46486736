#include "collector/process/process_stats.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pymemrun {
namespace {

// Tests a process that ends when it is told to.
class ZombieTest : public testing::Test {
 protected:
  void Fork(int exit_status) {
    ASSERT_EQ(pipe(go_), 0);
    pid_ = fork();
    if (pid_ == 0) {
      char word;
      close(go_[1]);
      while (read(go_[0], &word, 1) > 0) {
      }
      _exit(exit_status);
    }
    close(go_[0]);
  }
  void End() {
    close(go_[1]);
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, pid_, &info, WEXITED | WNOWAIT), 0);
  }
  void Reap() { ASSERT_EQ(waitpid(pid_, nullptr, 0), pid_); }

  int go_[2] = {-1, -1};
  pid_t pid_ = 0;
};

TEST_F(ZombieTest, TellsItsStatusFromItsEndUntilItIsReaped) {
  for (const int exit_status : {0, 4}) {
    Fork(exit_status);
    const ProcessStats stats(pid_);
    EXPECT_EQ(stats.ZombieWaitStatus(), absl::nullopt);
    End();
    EXPECT_EQ(stats.ZombieWaitStatus(), exit_status << 8);
    Reap();
    EXPECT_EQ(stats.ZombieWaitStatus(), absl::nullopt);
  }
}

TEST_F(ZombieTest, TellsASignal) {
  Fork(0);
  const ProcessStats stats(pid_);
  kill(pid_, SIGKILL);
  End();
  EXPECT_EQ(stats.ZombieWaitStatus(), SIGKILL);
  Reap();
}

// To such a one the kernel shows 0, whatever it is.
TEST_F(ZombieTest, TellsNothingToOneWhoMayNotKnow) {
  if (geteuid() != 0) GTEST_SKIP() << "root alone can become another user";
  for (const int exit_status : {0, 4}) {
    Fork(exit_status);
    End();
    const pid_t other = fork();
    if (other == 0) {
      if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
      _exit(ProcessStats(pid_).ZombieWaitStatus().has_value() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(other, &status, 0), other);
    EXPECT_EQ(status, 0);
    Reap();
  }
}

}  // namespace
}  // namespace pymemrun
