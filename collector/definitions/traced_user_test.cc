#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "collector/definitions/source_lines.h"

namespace pymemrun {
namespace {

constexpr uid_t kNobody = 65534;

TEST(TracedUser, TheLastNumberIsTheOneForFiles) {
  EXPECT_EQ(
      LastId("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n", "\nUid:", 9),
      4u);
  EXPECT_EQ(LastId("Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8", "\nGid:", 9),
            8u);
  EXPECT_EQ(LastId("Name:\tx\nUid:\t1\t2\n", "\nUid:", 9), 9u);
  EXPECT_EQ(LastId("", "\nUid:", 9), 9u);
}

TEST(TracedUser, OtherGroupsAreOnALineOfTheirOwn) {
  EXPECT_THAT(OtherGroups("Gid:\t5\t6\t7\t8\nGroups:\t27 1000 \nVmRSS:\t1"),
              testing::ElementsAre(27, 1000));
  EXPECT_THAT(OtherGroups("Gid:\t5\t6\t7\t8\nGroups:\t \n"),
              testing::IsEmpty());
  EXPECT_THAT(OtherGroups("Gid:\t5\t6\t7\t8\nGroups:\t27 10"),
              testing::IsEmpty());
}

bool CanOpen(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

// As a child that becomes another user, and then waits to be killed.
pid_t StartAsNobody(const std::vector<gid_t>& groups = {}) {
  int ready[2];
  EXPECT_EQ(pipe2(ready, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(groups.size(), groups.data()) != 0) _exit(1);
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  close(ready[1]);
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  return child;
}

TEST(TracedUser, RootsFilesAreNotReadForAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string secret = testing::TempDir() + "/traced_user_test";
  const int fd = open(secret.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(fd, 0);
  close(fd);
  const pid_t child = StartAsNobody();
  TracedUser user(child);
  {
    const TracedUser::Rights rights(&user);
    EXPECT_FALSE(CanOpen(secret));
    EXPECT_TRUE(CanOpen("/dev/null"));
  }
  EXPECT_TRUE(CanOpen(secret));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  {
    const TracedUser::Rights rights(&user);  // the process has ended
    EXPECT_FALSE(CanOpen(secret));
  }
  TracedUser ourselves(getpid());
  const TracedUser::Rights rights(&ourselves);
  EXPECT_TRUE(CanOpen(secret));
  unlink(secret.c_str());
}

TEST(TracedUser, FilesOfRootsOtherGroupsAreNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::vector<gid_t> groups = {4711};
  std::vector<gid_t> before(getgroups(0, nullptr));
  before.resize(getgroups(static_cast<int>(before.size()), before.data()));
  ASSERT_EQ(setgroups(groups.size(), groups.data()), 0);
  const std::string shared = testing::TempDir() + "/traced_user_test_shared";
  const int fd = open(shared.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0640);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(fchown(fd, 0, groups[0]), 0);
  close(fd);
  for (const bool in_group : {false, true}) {
    const pid_t child = StartAsNobody(in_group ? groups : std::vector<gid_t>());
    TracedUser user(child);
    {
      const TracedUser::Rights rights(&user);
      EXPECT_EQ(CanOpen(shared), in_group);
    }
    gid_t now[2] = {};
    EXPECT_EQ(getgroups(2, now), 1);
    EXPECT_EQ(now[0], groups[0]);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  unlink(shared.c_str());
  EXPECT_EQ(setgroups(before.size(), before.data()), 0);
}

}  // namespace
}  // namespace pymemrun
