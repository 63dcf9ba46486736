// Whole collectors on real regions, fed by forked processes that end in every
// way a process can.
#include "collector/collector_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "collector/ring_fixture.h"
#include "collector/side_ring_fixture.h"
#include "format/record_visitor.h"

namespace pymemrun {
namespace {

struct FileContents final : RecordVisitor {
  void OnHeader(const Header& record) override { header = record; }
  void OnFooter(const Footer& record) override { footer = record; }
  bool OnRows(const Row* batch, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      in_order = in_order && batch[i].number == rows;
      ++rows;
    }
    return true;
  }
  void OnProcess(const ProcessSample& sample) override {
    rss.push_back(sample.rss_bytes());
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) heap += events[i].is_free ? "-" : "+";
    return true;
  }
  Header header;
  Footer footer;
  uint64_t rows = 0;
  std::string heap;  // its allocations and frees
  std::vector<uint64_t> rss;
  bool in_order = true;  // numbered from 0 without gaps
  ReadResult result;
};

class CollectorProcessTest : public testing::Test {
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
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&page_->alive, &attributes);
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

  void SetText(const std::vector<std::string>& facts) { facts_ = facts; }
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
  void SayEnd(int status) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    page_->end.monotonic_ns = now.tv_sec * 1000000000ull + now.tv_nsec;
    page_->end.reason = EndReason::kExit;
    page_->end.exit_status = status;
    page_->end_state.store(1, std::memory_order_release);
  }

  FileContents Read() {
    FileContents contents;
    lseek(output_fd_, 0, SEEK_SET);
    FdSource source(output_fd_);
    const absl::Status status =
        ReadStream(&source, {}, &contents, &contents.result);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(contents.result.damages, 0u);
    EXPECT_FALSE(contents.result.torn);
    EXPECT_TRUE(contents.in_order);
    return contents;
  }

  static constexpr int kFirstPageFd = 1000;  // there are no page counters
  int region_fd_ = -1, reply_fd_ = -1, output_fd_ = -1, text_fd_ = -1;
  std::vector<std::string> facts_;
  ControlPage* page_ = nullptr;
  ReplyPage* reply_ = nullptr;
  EventSlot* slots_ = nullptr;
};

TEST_F(CollectorProcessTest, AProgramThatSaysItsEnd) {
  Trace([&] {
    StartTracing();
    PushRows(1000000);
    SayEnd(3);
    pause();
  });
  const FileContents file = Read();
  EXPECT_EQ(file.rows, 1000000u);
  EXPECT_EQ(file.footer.end(), Footer::EXIT);
  EXPECT_EQ(file.footer.exit_status(), 3);
  EXPECT_EQ(file.footer.rows(), 1000000u);
  EXPECT_EQ(file.footer.events(), 1000000u);
  EXPECT_EQ(file.header.argv_size(), 1);
  EXPECT_EQ(file.header.filters().min_drss_bytes(), 4096u);
  EXPECT_EQ(reply_->rows_written, 1000000u);
  const std::string report(reply_->report, reply_->report_bytes);
  EXPECT_NE(report.find("run.pb: 1,000,000 events, 1,000,000 rows"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("Exit status 3."), std::string::npos) << report;
}

TEST_F(CollectorProcessTest, AProgramThatNeverStartsLeavesAValidFile) {
  Trace([] { _exit(2); });
  const FileContents file = Read();
  EXPECT_EQ(file.rows, 0u);
  EXPECT_TRUE(file.result.has_header);
  EXPECT_TRUE(file.result.has_footer);
}

TEST_F(CollectorProcessTest, ExitWithoutAWordStillTellsTheStatus) {
  Trace([&] {
    StartTracing();
    PushRows(10);
    _exit(7);
  });
  const FileContents file = Read();
  EXPECT_EQ(file.rows, 10u);
  EXPECT_EQ(file.footer.end(), Footer::EXIT);
  EXPECT_EQ(file.footer.exit_status(), 7);
}

// The parent of a zombie sees its status; after kill -9 nothing that was
// published may be missing, whenever it came.
TEST_F(CollectorProcessTest, KilledAtAnyMomentNothingPublishedIsLost) {
  for (int round = 0; round < 15; ++round) {
    const pid_t pid = fork();
    if (pid == 0) {
      pthread_mutex_lock(&page_->alive);
      StartTracing();
      PushRows(UINT64_MAX);
    }
    std::thread killer([&] {
      usleep(3000 + rand() % 60000);
      kill(pid, SIGKILL);
    });
    Collect(pid);
    killer.join();
    const FileContents file = Read();
    EXPECT_EQ(file.rows, page_->head.load());
    EXPECT_EQ(file.footer.end(), Footer::SIGNAL);
    EXPECT_EQ(file.footer.exit_status(), SIGKILL);
    TearDown();
    SetUp();
  }
}

TEST_F(CollectorProcessTest, ExecIsSeenWhetherAnnouncedOrNot) {
  for (const bool announced : {true, false}) {
    Trace([&] {
      StartTracing();
      PushRows(10);
      usleep(20000);
      page_->exec_pending.store(announced, std::memory_order_release);
      const char* const argv[] = {"sleep", "1000", nullptr};
      const char* const environment[] = {nullptr};
      syscall(SYS_execve, "/bin/sleep", argv, environment);
    });
    const FileContents file = Read();
    EXPECT_EQ(file.rows, 10u);
    EXPECT_EQ(file.footer.end(), Footer::EXEC);
    EXPECT_LT(file.footer.end_us(), 100000000u);  // it sleeps on
    TearDown();
    SetUp();
  }
}

TEST_F(CollectorProcessTest, AnExecThatFailsIsNoEnd) {
  Trace([&] {
    StartTracing();
    PushRows(10);
    page_->exec_pending.store(1, std::memory_order_release);
    usleep(100000);
    page_->exec_pending.store(0, std::memory_order_release);
    PushRows(0);
    usleep(100000);
    SayEnd(0);
    pause();
  });
  const FileContents file = Read();
  EXPECT_EQ(file.footer.end(), Footer::EXIT);
  EXPECT_GT(file.footer.end_us(), 190000u);
}

TEST_F(CollectorProcessTest, AMainThreadThatLeavesIsNoEnd) {
  Trace([&] {
    StartTracing();
    std::thread([&] {
      usleep(200000);
      page_->exec_pending.store(1);  // by this thread; it will fail
      usleep(100000);
      page_->exec_pending.store(0);
      PushRows(10);
      SayEnd(4);
      pause();
    }).detach();
    syscall(SYS_exit, 0);  // as pthread_exit, without unwinding the test
  });
  const FileContents file = Read();
  EXPECT_EQ(file.rows, 10u);
  EXPECT_EQ(file.footer.exit_status(), 4);
}

TEST_F(CollectorProcessTest, AFullDiskCostsRowsNotTheProgram) {
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  close(output_fd_);
  char path[] = "/tmp/collector_process_test_XXXXXX";
  output_fd_ = mkstemp(path);
  unlink(path);
  SetText({"output=run.pb", "compress_level=-1000"});
  const pid_t pid = fork();
  if (pid == 0) {
    pthread_mutex_lock(&page_->alive);
    StartTracing();
    PushRows(5000000);
    SayEnd(0);
    pause();
  }
  const rlimit small = {2500000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Collect(pid);
  setrlimit(RLIMIT_FSIZE, &before);
  const FileContents file = Read();
  EXPECT_EQ(reply_->write_errno, EFBIG);
  EXPECT_GT(file.rows, 0u);
  EXPECT_EQ(file.rows, reply_->rows_written);
  EXPECT_EQ(reply_->rows_written + reply_->rows_lost_on_write, 5000000u);
  EXPECT_EQ(reply_->file_bytes,
            static_cast<uint64_t>(lseek(output_fd_, 0, SEEK_END)));
}

TEST_F(CollectorProcessTest, ADeviceThatTakesNothing) {
  close(output_fd_);
  output_fd_ = open("/dev/full", O_WRONLY | O_CLOEXEC);
  Trace([&] {
    StartTracing();
    PushRows(1000000);
    SayEnd(0);
    pause();
  });
  EXPECT_EQ(reply_->write_errno, ENOSPC);
  EXPECT_EQ(reply_->rows_lost_on_write, 1000000u);
}

TEST_F(CollectorProcessTest, RssIsNotSaidWhileACallGivesMemoryBack) {
  SetText({"output=run.pb", "argv=python", "page_period=1", "page_weight=1",
           "page_counters=0"});
  Trace([&] {
    SideProducer side(
        page_, reinterpret_cast<SideContinued*>(reinterpret_cast<char*>(page_) +
                                                kSideRingOffset));
    SideHead place = {};
    place.kind = SideKind::kNothing;
    const uint64_t index = side.Push(place, "", /*commit=*/false);
    StartTracing();
    const off_t header = AwaitLarger(output_fd_, 0);
    const off_t first = AwaitLarger(output_fd_, header);
    side.Commit(index);
    AwaitLarger(output_fd_, first);
    SayEnd(0);
    pause();
  });
  const FileContents file = Read();
  ASSERT_GE(file.rss.size(), 2u);
  EXPECT_EQ(file.rss.front(), 0u);
  EXPECT_GT(file.rss.back(), 0u);
}

TEST_F(CollectorProcessTest, RssOfAProgramThatHasDiedIsNotThatOfBefore) {
  Trace([&] {
    StartTracing();
    PushRows(1);
    AwaitLarger(output_fd_, AwaitLarger(output_fd_, 0));  // header, then RSS
    PushRows(2);  // so that there is something to say
    _exit(0);
  });
  const FileContents file = Read();
  ASSERT_GE(file.rss.size(), 2u);
  EXPECT_GT(file.rss.front(), 0u);
  EXPECT_EQ(file.rss.back(), 0u);
}

// A free stands behind an item that is begun and not committed, when the
// address has been given out anew.
TEST_F(CollectorProcessTest, SlotsWaitForItemsThatAreBegun) {
  SetText({"output=run.pb", "argv=python", "heap=2", "calls_off=1"});
  Trace([&] {
    StartTracing();
    SideProducer side(
        page_, reinterpret_cast<SideContinued*>(reinterpret_cast<char*>(page_) +
                                                kSideRingOffset));
    const uint64_t index = page_->head.load();
    const uint64_t begun = side.Push({}, "", /*commit=*/false);
    side.Free(static_cast<uint32_t>(getpid()), page_->start.monotonic_ns, index,
              0x7f0000);
    SlotStream stream;
    stream.Alloc(0, 0x7f0000, 56);
    RingProducer(page_, slots_, reply_).TryPush(stream.slots());
    usleep(100000);  // the collector looks at both rings meanwhile
    side.Commit(begun);
    SayEnd(0);
    pause();
  });
  EXPECT_EQ(Read().heap, "-+");
}

TEST_F(CollectorProcessTest, AnotherVersionsRegionIsRefused) {
  page_->version = kWireVersion + 1;
  EXPECT_FALSE(CollectorProcess::Create(
                   {region_fd_, reply_fd_, output_fd_, -1, text_fd_})
                   .ok());
}

}  // namespace
}  // namespace pymemrun
