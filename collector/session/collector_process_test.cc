// Whole collectors on real regions, fed by forked processes that end in every
// way a process can.
#include "collector/session/collector_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>

#include "collector/objects/refused_calls_for_tests.h"
#include "collector/session/collector_fixture.h"

namespace pymemrun {
namespace {

using CollectorProcessTest = CollectorFixture;

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
  EXPECT_EQ(file.footer.finalize(), Footer::FINALIZE_UNKNOWN);
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

// What the program read then is recorded for that moment.
TEST_F(CollectorProcessTest, RssAtTheProgramsEndIsWritten) {
  Trace([&] {
    StartTracing();
    page_->finalize_rss_pages = 700;
    page_->finalize_hwm_pages = 900;
    page_->finalize_ns.store(page_->start.monotonic_ns + 5000,
                             std::memory_order_release);
    SayEnd(0);
    pause();
  });
  const FileContents file = Read();
  EXPECT_EQ(std::count(file.rss.begin(), file.rss.end(), 700u * 4096), 1);
  EXPECT_EQ(file.footer.finalize_us(), 5u);
}

// Its parent reaps it only later.
TEST_F(CollectorProcessTest, ExitWithoutAWordStillTellsTheStatus) {
  for (const int status : {7, 0}) {
    Trace([&] {
      StartTracing();
      PushRows(10);
      _exit(status);
    });
    const FileContents file = Read();
    EXPECT_EQ(file.rows, 10u);
    EXPECT_EQ(file.footer.end(), Footer::EXIT) << status;
    EXPECT_EQ(file.footer.exit_status(), status);
    EXPECT_EQ(file.footer.finalize(), Footer::NOT_FINALIZED);
    TearDown();
    SetUp();
  }
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
    EXPECT_EQ(file.footer.finalize(), Footer::NOT_FINALIZED);
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
      if (announced) page_->finalize_rss_pages = 700;
      page_->exec_pending.store(announced, std::memory_order_release);
      const char* const argv[] = {"sleep", "1000", nullptr};
      const char* const environment[] = {nullptr};
      syscall(SYS_execve, "/bin/sleep", argv, environment);
    });
    const FileContents file = Read();
    EXPECT_EQ(file.rows, 10u);
    EXPECT_EQ(file.footer.end(), Footer::EXEC);
    EXPECT_EQ(std::count(file.rss.begin(), file.rss.end(), 700u * 4096),
              announced ? 1 : 0);
    EXPECT_EQ(file.footer.finalize(), Footer::NOT_FINALIZED);
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

TEST_F(CollectorProcessTest, TheEndIsSeenWherePollIsRefused) {
  // Such a filter of a program binds the collectors of its forked children.
  // With /proc, and where nothing there can be opened.
  for (const std::vector<int>& refused :
       {std::vector<int>{SYS_poll, SYS_ppoll},
        {SYS_poll, SYS_ppoll, SYS_open, SYS_openat}}) {
    const auto trace = [&] {
      Trace([&] {
        StartTracing();
        PushRows(10);
        _exit(5);  // without a word
      });
    };
    EXPECT_EQ(RunWithoutCalls(refused, trace), 0);
    const FileContents file = Read();
    EXPECT_EQ(file.rows, 10u);
    EXPECT_NE(file.footer.end(), Footer::UNKNOWN);
    TearDown();
    SetUp();
  }
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
    SideProducer side = MakeSideProducer();
    SideAny place;
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

// RSS did not move, and was looked at: so it is known to be as it was.
TEST_F(CollectorProcessTest, OfAProgramThatDiedTheLastLookAtRssIsWritten) {
  Trace([&] {
    StartTracing();
    AwaitLarger(output_fd_, AwaitLarger(output_fd_, 0));  // header, then RSS
    // The collector goes round some times.
    const uint32_t first = reply_->heartbeat.load();
    for (int ms = 0; ms < 50 || reply_->heartbeat.load() - first < 50; ++ms) {
      usleep(1000);
    }
    _exit(0);
  });
  const FileContents file = Read();
  EXPECT_GT(file.rss_known_us, file.first_rss_us + 20000);
  EXPECT_LE(file.rss_known_us, file.footer.end_us());
}

// By _exit(): it waits until it is known what it leaves, and for nothing else.
TEST_F(CollectorProcessTest, AProgramMayEndOnceItIsKnownWhatItLeaves) {
  Trace([&] {
    StartTracing();
    page_->tells_finalize = 1;
    page_->end.own_bytes = 4096;
    PushRows(1);
    SayEnd(7, EndReason::kUnknown);
    while (reply_->end_scans.load() == 0) usleep(1000);
    _exit(7);
  });
  const FileContents file = Read();
  EXPECT_GE(file.rss_known_us, file.footer.end_us());
  EXPECT_EQ(file.footer.end(), Footer::EXIT);
  EXPECT_EQ(file.footer.exit_status(), 7);
  EXPECT_EQ(file.footer.finalize(), Footer::NOT_FINALIZED);
}

// A free stands behind an item that is begun and not committed, when the
// address has been given out anew.
TEST_F(CollectorProcessTest, SlotsWaitForItemsThatAreBegun) {
  SetText({"output=run.pb", "argv=python", "heap=2", "calls_off=1"});
  Trace([&] {
    StartTracing();
    SideProducer side = MakeSideProducer();
    const uint64_t index = page_->head.load();
    const uint64_t begun = side.Push(SideAny{}, "", /*commit=*/false);
    side.Free(static_cast<uint32_t>(getpid()), page_->start.monotonic_ns, index,
              0x7f0000);
    SlotStream stream;
    stream.Alloc(0, 0x7f0000, 56);
    RingProducer(page_, slots_, reply_).TryPush(stream.slots());
    usleep(100000);  // the collector looks at both rings now
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
