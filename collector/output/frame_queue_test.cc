#include "collector/output/frame_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace pymemrun {
namespace {

// A pipe is a disk whose speed the test has in its hands.
class FrameQueueTest : public testing::Test {
 protected:
  FrameQueueTest() {
    signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(pipe2(fds_, O_CLOEXEC), 0);
    pipe_bytes_ = static_cast<size_t>(fcntl(fds_[1], F_GETPIPE_SZ));
  }
  ~FrameQueueTest() override {
    CloseReader();
    close(fds_[1]);
  }
  void CloseReader() {
    if (fds_[0] >= 0) close(fds_[0]);
    fds_[0] = -1;
  }
  std::string Read(size_t bytes) {
    std::string text(bytes, '\0');
    for (size_t at = 0; at < bytes;) {
      const ssize_t count = read(fds_[0], &text[at], bytes - at);
      if (count <= 0) return text.substr(0, at);
      at += count;
    }
    return text;
  }

  int fds_[2];
  size_t pipe_bytes_;
};

TEST_F(FrameQueueTest, FramesComeInOrder) {
  FrameQueue queue(
      fds_[1], 1 << 20, [] {}, [](uint64_t) {});
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string frame = std::to_string(i) + ";";
    all += frame;
    ASSERT_TRUE(queue.Append(frame).ok());
  }
  queue.Settle();
  EXPECT_EQ(queue.progress().frames, 100u);
  EXPECT_EQ(queue.progress().bytes, all.size());
  EXPECT_EQ(queue.progress().error, 0);
  EXPECT_EQ(queue.bytes_written(), all.size());
  EXPECT_EQ(Read(all.size()), all);
}

TEST_F(FrameQueueTest, ASlowDiskDelaysNobodyWhileThereIsRoom) {
  FrameQueue queue(
      fds_[1], 1 << 20, [] { FAIL() << "waits"; }, [](uint64_t) {});
  const std::string frame(pipe_bytes_, 'x');
  // The first fills the pipe; the others wait in memory.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.Append(frame).ok());
  EXPECT_LE(queue.progress().frames, 1u);
  EXPECT_EQ(Read(4 * frame.size()), frame + frame + frame + frame);
}

TEST_F(FrameQueueTest, WaitsForRoomAndShowsThatItLives) {
  std::atomic<int> waits = 0;
  FrameQueue queue(
      fds_[1], 2 * pipe_bytes_, [&waits] { ++waits; }, [](uint64_t) {});
  const std::string frame(pipe_bytes_, 'x');
  std::thread reader([&] {
    while (waits < 3) std::this_thread::yield();
    Read(8 * frame.size());
  });
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(queue.Append(frame).ok());
  EXPECT_GE(waits, 3);
  queue.Settle();
  EXPECT_EQ(queue.progress().frames, 8u);
  reader.join();
}

TEST_F(FrameQueueTest, AFrameLargerThanAllRoomIsTaken) {
  FrameQueue queue(
      fds_[1], 10, [] {}, [](uint64_t) {});
  const std::string frame(pipe_bytes_, 'x');
  ASSERT_TRUE(queue.Append(frame).ok());
  queue.Settle();
  EXPECT_EQ(queue.progress().bytes, frame.size());
}

TEST_F(FrameQueueTest, TellsWhatTheFileHoldsAfterEachFrame) {
  std::vector<uint64_t> told;
  FrameQueue queue(
      fds_[1], 1 << 20, [] {},
      [&told](uint64_t rows) { told.push_back(rows); });
  for (const uint64_t rows : {0, 10, 25}) {
    queue.set_rows({rows, rows / 5});
    ASSERT_TRUE(queue.Append("frame").ok());
  }
  queue.Settle();
  CloseReader();
  queue.set_rows({30, 6});
  ASSERT_TRUE(queue.Append("lost").ok());
  queue.Settle();
  EXPECT_EQ(told, (std::vector<uint64_t>{0, 10, 25}));
  EXPECT_EQ(queue.progress().rows.rows, 25u);
  EXPECT_EQ(queue.progress().rows.context, 5u);
}

TEST_F(FrameQueueTest, NothingIsTakenAfterFramesWereGivenUp) {
  FrameQueue queue(
      fds_[1], 1 << 20, [] {}, [](uint64_t) {});
  ASSERT_TRUE(queue.Append("first").ok());
  queue.Settle();
  CloseReader();
  ASSERT_TRUE(queue.Append("second").ok());
  queue.Settle();
  EXPECT_EQ(queue.progress().frames, 1u);
  EXPECT_EQ(queue.progress().bytes, 5u);
  EXPECT_EQ(queue.progress().error, EPIPE);
  EXPECT_TRUE(queue.progress().gave_up);
  EXPECT_FALSE(queue.Append("third").ok());
  EXPECT_EQ(queue.bytes_written(), 11u);
}

TEST_F(FrameQueueTest, WhoeverWaitsForRoomHearsOfAFailure) {
  FrameQueue queue(
      fds_[1], pipe_bytes_, [this] { CloseReader(); }, [](uint64_t) {});
  const std::string frame(pipe_bytes_, 'x');
  absl::Status status;
  for (int i = 0; i < 6 && status.ok(); ++i) status = queue.Append(frame);
  EXPECT_FALSE(status.ok());
}

// A file that the test lets grow or not: a disk that is full for a time.
class FullDiskTest : public testing::Test {
 protected:
  FullDiskTest() {
    char path[] = "/tmp/frame_queue_test_XXXXXX";
    fd_ = mkstemp(path);
    unlink(path);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
  }
  ~FullDiskTest() override {
    Limit(before_.rlim_cur);
    close(fd_);
  }
  void Limit(rlim_t bytes) {
    const rlimit limit = {bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::string Contents() const {
    std::string text(1 << 16, '\0');
    text.resize(pread(fd_, text.data(), text.size(), 0));
    return text;
  }
  static void WaitForFailure(const FrameQueue& queue) {
    while (queue.progress().error == 0) std::this_thread::yield();
  }

  int fd_;
  rlimit before_;
};

TEST_F(FullDiskTest, WhatFailedIsTriedAgainAndNothingIsMissing) {
  FrameQueue queue(
      fd_, 1 << 20, [] {}, [](uint64_t) {});
  const std::string first(1000, '1'), second(300, '2');
  Limit(500);
  ASSERT_TRUE(queue.Append(first).ok());
  WaitForFailure(queue);
  ASSERT_TRUE(queue.Append(second).ok());
  EXPECT_EQ(queue.progress().frames, 0u);
  Limit(before_.rlim_cur);
  queue.Settle();
  EXPECT_EQ(queue.progress().frames, 2u);
  EXPECT_FALSE(queue.progress().gave_up);
  EXPECT_EQ(queue.progress().error, EFBIG);  // there was one
  EXPECT_EQ(Contents(), first + second);
}

TEST_F(FullDiskTest, MeanwhileTheFileEndsWithAWholeFrame) {
  FrameQueue queue(
      fd_, 1 << 20, [] {}, [](uint64_t) {});
  Limit(500);
  ASSERT_TRUE(queue.Append("whole").ok());
  ASSERT_TRUE(queue.Append(std::string(1000, 'x')).ok());
  WaitForFailure(queue);
  queue.Settle();
  EXPECT_TRUE(queue.progress().gave_up);
  EXPECT_EQ(Contents(), "whole");
}

TEST_F(FullDiskTest, OneThatHasEnoughIsStuckAndTakesTwiceAsMuchAtMost) {
  FrameQueue queue(
      fd_, 1000, [] { FAIL() << "waits"; }, [](uint64_t) {});
  Limit(0);
  const std::string frame(400, 'x');
  ASSERT_TRUE(queue.Append(frame).ok());
  WaitForFailure(queue);
  EXPECT_FALSE(queue.IsStuck());
  ASSERT_TRUE(queue.Append(frame).ok());
  ASSERT_TRUE(queue.Append(frame).ok());
  EXPECT_TRUE(queue.IsStuck());
  EXPECT_TRUE(queue.Append(frame).ok());
  EXPECT_TRUE(queue.Append(frame).ok());
  EXPECT_FALSE(queue.Append(frame).ok());
}

TEST_F(FrameQueueTest, EndsWithFramesLeft) {
  const std::string frame(pipe_bytes_, 'x');
  std::thread reader;
  {
    FrameQueue queue(
        fds_[1], 1 << 20, [] {}, [](uint64_t) {});
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(queue.Append(frame).ok());
    reader = std::thread([&] { Read(5 * frame.size()); });
  }
  // The one that was being written has been written whole.
  close(fds_[1]);
  reader.join();
  fds_[1] = -1;
}

}  // namespace
}  // namespace pymemrun
