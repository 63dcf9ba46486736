#include "readers/run/follow_watch.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

// Header of a run in this process, begun now.
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

// A process that was there.
pid_t EndedPid() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

// A file with one end that writes and another that reads it.
class WaitForWriterTest : public ::testing::Test {
 protected:
  ~WaitForWriterTest() override {
    close(reader_);
    close(writer_);
  }
  void WriteHeader(pid_t pid) {
    Header header = RunBuilder::DefaultHeader();
    header.MergeFrom(HeaderHere());
    header.set_pid(pid);
    FdSink sink(writer_);
    RunBuilder builder(&sink);
    builder.AddHeader(header);
    builder.Flush();
  }
  // While it waits it counts its looks, and then calls `meanwhile`.
  Writing Wait(const std::function<void()>& meanwhile,
               absl::Duration patience = absl::Minutes(1)) {
    return WaitForWriter(reader_, patience, [&](absl::Duration) {
      ++waits_;
      meanwhile();
      return true;
    });
  }

  const TempFile file_{""};
  const int writer_ = open(file_.path().c_str(), O_RDWR | O_CLOEXEC);
  const int reader_ = open(file_.path().c_str(), O_RDONLY | O_CLOEXEC);
  int waits_ = 0;
};

TEST_F(WaitForWriterTest, NobodyWrites) {
  WriteHeader(EndedPid());
  EXPECT_EQ(Wait([] {}), Writing::kNo);
  EXPECT_EQ(waits_, 0);
}

TEST_F(WaitForWriterTest, AProgramThatRunsIsNotWaitedFor) {
  WriteHeader(getpid());
  SetWriting(writer_, Writing::kRecording);
  EXPECT_EQ(Wait([] {}), Writing::kRecording);
  EXPECT_EQ(waits_, 0);
}

TEST_F(WaitForWriterTest, ACollectorThatEndsIsWaitedFor) {
  WriteHeader(getpid());
  SetWriting(writer_, Writing::kRecording);
  SetWriting(writer_, Writing::kFinishing);
  EXPECT_EQ(Wait([this] { SetWriting(writer_, Writing::kNo); }), Writing::kNo);
  EXPECT_EQ(waits_, 1);
}

TEST_F(WaitForWriterTest, SoIsOneThatHasNotSeenItsProgramsEnd) {
  SetWriting(writer_, Writing::kRecording);
  EXPECT_EQ(Wait([this] {
              if (waits_ == 1) WriteHeader(EndedPid());
              if (waits_ == 3) SetWriting(writer_, Writing::kFinishing);
              if (waits_ == 5) SetWriting(writer_, Writing::kNo);
            }),
            Writing::kNo);
  EXPECT_EQ(waits_, 5);
}

TEST_F(WaitForWriterTest, ACollectorThatIsKilledHoldsNoLock) {
  WriteHeader(getpid());
  SetWriting(writer_, Writing::kFinishing);
  EXPECT_EQ(Wait([this] { ASSERT_EQ(close(dup2(reader_, writer_)), 0); }),
            Writing::kNo);
}

TEST_F(WaitForWriterTest, PatienceHasAnEnd) {
  WriteHeader(getpid());
  SetWriting(writer_, Writing::kFinishing);
  EXPECT_EQ(Wait([] {}, absl::Milliseconds(50)), Writing::kFinishing);
  EXPECT_GT(waits_, 0);
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
