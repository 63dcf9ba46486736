#include <errno.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "collector/objects/object_recorder.h"
#include "collector/objects/refused_calls_for_tests.h"

namespace pymemrun {
namespace {

// What comes, nothing, what comes late, and the end.
void ReadAllKinds() {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  char buffer[8];
  ASSERT_EQ(write(fds[1], "abc", 3), 3);
  EXPECT_EQ(ReadPipe(fds[0], buffer, sizeof(buffer), 10000), 3);
  errno = 0;
  EXPECT_EQ(ReadPipe(fds[0], buffer, sizeof(buffer), 5), -1);
  EXPECT_EQ(errno, EAGAIN);
  std::thread writer([&] {
    usleep(20000);
    EXPECT_EQ(write(fds[1], "de", 2), 2);
  });
  EXPECT_EQ(ReadPipe(fds[0], buffer, sizeof(buffer), 10000), 2);
  writer.join();
  close(fds[1]);
  EXPECT_EQ(ReadPipe(fds[0], buffer, sizeof(buffer), 10000), 0);
  close(fds[0]);
}

TEST(PipeReadTest, ReadsForALimitedTime) { ReadAllKinds(); }

TEST(PipeReadTest, NeedsNoPoll) {
  EXPECT_EQ(RunWithoutCalls({SYS_poll, SYS_ppoll}, ReadAllKinds), 0);
}

}  // namespace
}  // namespace pymemrun
