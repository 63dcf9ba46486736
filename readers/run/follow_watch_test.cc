#include "readers/run/follow_watch.h"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// Of a run in this process, begun now.
Header HeaderHere() {
  char host[HOST_NAME_MAX + 1] = {};
  gethostname(host, sizeof(host) - 1);
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  Header header;
  header.set_pid(getpid());
  header.set_host(host);
  header.set_start_monotonic_ns(now.tv_sec * 1000000000ull + now.tv_nsec);
  return header;
}

TEST(RunIsDeadTest, AProcessThatIsThereIsNot) {
  EXPECT_FALSE(RunIsDead(HeaderHere()));
}

TEST(RunIsDeadTest, OneThatHasEndedIs) {
  Header header = HeaderHere();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  header.set_pid(child);
  siginfo_t info;
  waitid(P_PID, child, &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(RunIsDead(header)) << "a zombie";
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(RunIsDead(header)) << "gone";
}

TEST(RunIsDeadTest, AYoungerProcessWithThePidIsAnother) {
  Header header = HeaderHere();
  header.set_start_monotonic_ns(1);
  EXPECT_TRUE(RunIsDead(header));
}

TEST(RunIsDeadTest, OfAnotherHostNothingIsKnown) {
  Header header = HeaderHere();
  header.set_start_monotonic_ns(1);
  header.set_host("elsewhere." + header.host());
  EXPECT_FALSE(RunIsDead(header));
}

TEST(FollowWatchTest, WaitsForADeadRunOnlyWhileTheFileGrows) {
  bool dead = true;
  FollowWatch watch([&dead] { return dead; });
  const absl::Time start = absl::UnixEpoch();
  const absl::Duration patience = FollowWatch::kPatience;
  EXPECT_FALSE(watch.IsOver(100, start));
  EXPECT_FALSE(watch.IsOver(100, start + patience / 2));
  EXPECT_FALSE(watch.IsOver(200, start + patience));
  EXPECT_FALSE(watch.IsOver(200, start + 1.9 * patience));
  dead = false;
  EXPECT_FALSE(watch.IsOver(200, start + 100 * patience));
  dead = true;
  EXPECT_TRUE(watch.IsOver(200, start + 100 * patience));
}

}  // namespace
}  // namespace pymemrun
