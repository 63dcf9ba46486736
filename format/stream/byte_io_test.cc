#include "format/stream/byte_io.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(StringSource, GivesBytesInPiecesAndThenTheEnd) {
  StringSource source("abcde");
  char buffer[3];
  EXPECT_EQ(*source.Read(buffer, 3), 3u);
  EXPECT_EQ(*source.Read(buffer, 3), 2u);
  EXPECT_EQ(buffer[0], 'd');
  EXPECT_EQ(*source.Read(buffer, 3), 0u);
}

// A pipe holds 64 KiB: a larger write is cut short by each signal.
TEST(FdSink, ContinuesShortWritesAndThoseInterrupted) {
  struct sigaction action = {};
  action.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  std::string all(1 << 20, 'x');
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<char>(i * 7);
  std::string got;
  const pthread_t writer = pthread_self();
  std::thread reader([&] {
    char buffer[50000];
    while (got.size() < all.size()) {
      pthread_kill(writer, SIGUSR1);
      usleep(200);
      const ssize_t n = read(fds[0], buffer, sizeof(buffer));
      if (n > 0) got.append(buffer, static_cast<size_t>(n));
    }
  });
  FdSink sink(fds[1]);
  EXPECT_TRUE(sink.Append(all).ok());
  reader.join();
  EXPECT_EQ(got, all);
  EXPECT_EQ(sink.bytes_written(), all.size());
  close(fds[0]), close(fds[1]);
}

TEST(FdSink, AFullDeviceIsAnErrorWithErrnoAndOffset) {
  const int fd = open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  FdSink sink(fd);
  const absl::Status status = sink.Append("abc");
  EXPECT_EQ(sink.last_errno(), ENOSPC);
  EXPECT_EQ(sink.bytes_written(), 0u);
  EXPECT_NE(status.message().find("byte 0: 3 bytes could not be written"),
            absl::string_view::npos)
      << status;
  close(fd);
}

// In a child, because the limit is the process's.
TEST(FdSink, AFileSizeLimitLeavesTheBytesThatFitted) {
  char name[] = "/tmp/byte_io_testXXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  unlink(name);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    FdSink sink(fd);
    const absl::Status status = sink.Append(std::string(1500, 'x'));
    const bool right = !status.ok() && sink.last_errno() == EFBIG &&
                       sink.bytes_written() == 1000;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lseek(fd, 0, SEEK_END), 1000);
  close(fd);
}

TEST(FdSink, AClosedDescriptorIsAnError) {
  FdSink sink(-1);
  EXPECT_TRUE(sink.Append("").ok());
  EXPECT_FALSE(sink.Append("x").ok());
  EXPECT_EQ(sink.last_errno(), EBADF);
}

TEST(FdSource, ReadsUpToTheEndAndReportsErrors) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  ASSERT_EQ(write(fds[1], "abc", 3), 3);
  close(fds[1]);
  char buffer[8];
  FdSource source(fds[0]);
  EXPECT_EQ(*source.Read(buffer, 8), 3u);
  EXPECT_EQ(*source.Read(buffer, 8), 0u);
  close(fds[0]);
  EXPECT_FALSE(FdSource(-1).Read(buffer, 8).ok());
  const int directory = open("/tmp", O_RDONLY);
  EXPECT_FALSE(FdSource(directory).Read(buffer, 8).ok());
  close(directory);
}

}  // namespace
}  // namespace pymemrun
