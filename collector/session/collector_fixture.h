// For tests: whole collectors on memory that they share with a forked process.
#ifndef PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_FIXTURE_H_
#define PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_FIXTURE_H_

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "collector/output/run_contents_for_tests.h"
#include "collector/ring/ring_fixture.h"
#include "collector/ring/side_ring_fixture.h"
#include "collector/session/collector_process.h"

namespace pymemrun {

class CollectorFixture : public testing::Test {
 protected:
  void SetUp() override {
    void* region = MakeShared("region", kRegionBytes, &region_fd_);
    page_ = static_cast<ControlPage*>(region);
    reply_ =
        static_cast<ReplyPage*>(MakeShared("reply", kReplyBytes, &reply_fd_));
    slots_ = reinterpret_cast<EventSlot*>(static_cast<char*>(region) +
                                          kControlBytes);
    page_->magic = kRingMagic;
    page_->version = kWireVersion;
    MakeSignOfLife(&page_->alive);
    output_fd_ = memfd_create("run.pb", MFD_CLOEXEC);
    text_fd_ = memfd_create("text", MFD_CLOEXEC);
    SetText({"output=run.pb", "argv=python", "min_drss_bytes=4096"});
  }
  void TearDown() override {
    munmap(page_, kRegionBytes);
    munmap(reply_, kReplyBytes);
    for (const int fd : {region_fd_, reply_fd_, output_fd_, text_fd_}) {
      close(fd);
    }
  }
  static void* MakeShared(const char* name, size_t bytes, int* fd) {
    *fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(*fd, static_cast<off_t>(bytes)), 0);
    return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  }

  void SetText(std::vector<std::string> facts) { facts_ = std::move(facts); }
  // As the launcher writes it of the process that it starts.
  void WriteText(pid_t pid) {
    std::string text = "pid=" + std::to_string(pid) + '\0';
    for (const std::string& fact : facts_) text.append(fact).push_back('\0');
    ASSERT_EQ(ftruncate(text_fd_, 0), 0);
    ASSERT_EQ(pwrite(text_fd_, text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
  }

  // Runs a collector on a process that does `program`.
  void Trace(const std::function<void()>& program) {
    const pid_t pid = fork();
    if (pid == 0) {
      pthread_mutex_lock(&page_->alive);
      program();
      _exit(0);
    }
    Collect(pid);
  }
  void Collect(pid_t pid) {
    WriteText(pid);
    const int pid_fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    ASSERT_GE(pid_fd, 0);
    auto collector = CollectorProcess::Create(
        {region_fd_, reply_fd_, output_fd_, pid_fd, text_fd_, kFirstPageFd});
    ASSERT_TRUE(collector.ok()) << collector.status();
    (*collector)->Run();
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    close(pid_fd);
    EXPECT_EQ(reply_->done_state.load(), 1u);
  }

  // -- In the traced process.
  void StartTracing() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    page_->start.monotonic_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
    page_->start_state.store(1, std::memory_order_release);
  }
  // Pushes rows until `count`, waiting where the ring is full.
  void PushRows(uint64_t count) {
    RingProducer producer(page_, slots_, reply_);
    SlotStream stream;
    for (uint64_t i = 0; i < count; ++i) {
      stream.Clear();
      stream.Row(i % 2, 1 + i / 2 % 7, 0, 0, page_->start.monotonic_ns);
      while (!producer.TryPush(stream.slots())) usleep(100);
      page_->next_number.store(i + 1, std::memory_order_relaxed);
    }
  }
  void SayEnd(int status, EndReason reason = EndReason::kExit) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    page_->end.monotonic_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
    page_->end.reason = reason;
    page_->end.exit_status = status;
    page_->end_state.store(1, std::memory_order_release);
  }

  // All that readers can read of the file.
  FileContents ReadDamaged() {
    FileContents contents;
    lseek(output_fd_, 0, SEEK_SET);
    FdSource source(output_fd_);
    const absl::Status status =
        ReadStream(&source, {}, &contents, &contents.result);
    EXPECT_TRUE(status.ok()) << status;
    return contents;
  }
  FileContents Read() {
    FileContents contents = ReadDamaged();
    EXPECT_EQ(contents.result.damages, 0u);
    EXPECT_TRUE(!contents.result.torn && contents.in_order);
    return contents;
  }
  SideProducer MakeSideProducer() {
    return {page_, reinterpret_cast<SideContinued*>(
                       reinterpret_cast<char*>(page_) + kSideRingOffset)};
  }
  static constexpr int kFirstPageFd = 1000;  // there are no page counters
  int region_fd_ = -1, reply_fd_ = -1, output_fd_ = -1, text_fd_ = -1;
  std::vector<std::string> facts_;
  ControlPage* page_ = nullptr;
  ReplyPage* reply_ = nullptr;
  EventSlot* slots_ = nullptr;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_FIXTURE_H_
