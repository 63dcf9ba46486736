#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "collector/states/sched_sampler.h"
#include "collector/states/sleep_look.h"
#include "collector/states/switch_rings.h"

namespace pymemrun {
namespace {

constexpr size_t kDataBytes = 4096;
constexpr uint32_t kPid = 50;

// A ring in memory, and the kernel's part.
class FakeRing {
 public:
  void Switch(uint32_t pid, uint32_t tid, uint64_t time, uint16_t misc) {
    struct {
      perf_event_header header;
      uint32_t pid, tid;
      uint64_t time;
      uint32_t cpu, reserved;
    } record = {{PERF_RECORD_SWITCH, misc, 32}, pid, tid, time, 1, 0};
    Push(&record, sizeof(record));
  }
  void Task(uint32_t type, uint32_t pid, uint32_t tid, uint64_t time) {
    struct {
      perf_event_header header;
      uint32_t pid, ppid, tid, ptid;
      uint64_t time;
      uint64_t id[3];
    } record = {{type, 0, 56}, pid, kPid, tid, kPid, time, {}};
    Push(&record, sizeof(record));
  }
  std::vector<ThreadStep> Drain() {
    PerfRing ring(&page_, data_, kDataBytes);
    std::vector<ThreadStep> steps;
    SwitchRings::DrainSteps(&ring, kPid, &steps);
    return steps;
  }

 private:
  void Push(const void* record, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      data_[(page_.data_head + i) % kDataBytes] =
          static_cast<const char*>(record)[i];
    }
    page_.data_head += bytes;
  }
  perf_event_mmap_page page_ = {};
  alignas(8) char data_[kDataBytes];
};

TEST(SwitchRings, RecordsBecomeStepsOfThisProcessAlone) {
  FakeRing ring;
  ring.Task(PERF_RECORD_FORK, kPid, 51, 10);
  ring.Task(PERF_RECORD_FORK, 60, 60, 11);  // a forked child
  ring.Switch(kPid, 51, 12, 0);
  ring.Switch(kPid, 51, 13, PERF_RECORD_MISC_SWITCH_OUT);
  ring.Switch(60, 60, 14, 0);
  ring.Switch(kPid, 51, 15,
              PERF_RECORD_MISC_SWITCH_OUT |
                  PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
  ring.Task(PERF_RECORD_EXIT, kPid, 51, 16);
  ring.Task(PERF_RECORD_COMM, kPid, 51, 17);
  const std::vector<ThreadStep> steps = ring.Drain();
  const std::vector<StateAction> expected = {
      STATE_BORN, STATE_RUNS, STATE_SLEEPS, STATE_PREEMPTED, STATE_ENDED};
  ASSERT_EQ(steps.size(), expected.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].action, expected[i]) << i;
    EXPECT_EQ(steps[i].thread, 51u);
  }
  EXPECT_EQ(steps[0].time_ns, 10u);
  EXPECT_EQ(steps[4].time_ns, 16u);
}

TEST(SleepLook, TheSystemCallSaysWhatForAThreadSleeps) {
  const auto text = [](int32_t call) {
    return absl::StrCat(call, " 0x7 0x80 0x0 0x0 0x0 0x0 0x7ffe 0x7f0d\n");
  };
  EXPECT_EQ(ParseSyscall(text(SYS_futex)).reason, SLEEP_LOCK);
  EXPECT_EQ(ParseSyscall(text(SYS_read)).reason, SLEEP_IO);
  EXPECT_EQ(ParseSyscall(text(SYS_clock_nanosleep)).reason, SLEEP_TIMER);
  const SleepLook other = ParseSyscall(text(SYS_wait4));
  EXPECT_EQ(other.reason, SLEEP_OTHER);
  EXPECT_EQ(NameOfCall(other.call), "wait4");
  EXPECT_EQ(NameOfCall(4000), "system call 4000");
  EXPECT_EQ(ParseSyscall("running\n").answer, SleepLook::kAwake);
  EXPECT_EQ(ParseSyscall("").answer, SleepLook::kAwake);
  const auto waits = [](int32_t call, const char* arguments) {
    return ParseSyscall(absl::StrCat(call, " ", arguments, " 0x7ffe 0x7f0d\n"))
        .reason;
  };
  EXPECT_EQ(waits(SYS_pselect6, "0x0 0x0 0x0 0x0 0x7ffe 0x0"), SLEEP_TIMER);
  EXPECT_EQ(waits(SYS_pselect6, "0x4 0x7ffe 0x0 0x0 0x0 0x0"), SLEEP_IO);
  EXPECT_EQ(waits(SYS_ppoll, "0x0 0x0 0x7ffe 0x0 0x8 0x0"), SLEEP_TIMER);
  EXPECT_EQ(waits(SYS_ppoll, "0x0 0x1 0x7ffe 0x0 0x8 0x0"), SLEEP_IO);
  const SleepLook outside = ParseSyscall("-1 0x7ffe 0x7f0d\n");
  EXPECT_EQ(outside.answer, SleepLook::kSleeps);
  EXPECT_EQ(outside.call, -1);
}

int OpenTasks() {
  return open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST(SleepLook, AThreadThatReadsAPipeIsSeenToWaitForIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread reader([&] {
    char byte;
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
  });
  const int tasks = OpenTasks();
  SleepLook look;
  // It may take a while to get there: std::thread has no number of the kernel.
  for (int tries = 0; look.reason != SLEEP_IO && tries < 30000; ++tries) {
    SchedSampler sampler(tasks, false);
    SchedBatch batch;
    std::vector<uint32_t> threads;
    sampler.Start(
        [&](uint32_t thread, bool) {
          threads.push_back(thread);
          return 1u;
        },
        &batch);
    for (const uint32_t thread : threads) {
      if (thread == static_cast<uint32_t>(gettid())) continue;
      look = LookAtSleep(tasks, thread);
      if (look.answer == SleepLook::kRefused) break;
    }
    if (look.answer == SleepLook::kRefused) break;
    usleep(1000);
  }
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  reader.join();
  if (look.answer == SleepLook::kRefused) GTEST_SKIP() << "may not look here";
  EXPECT_EQ(look.reason, SLEEP_IO);
  EXPECT_EQ(LookAtSleep(tasks, 0x7fffffff).answer, SleepLook::kAwake);
  close(tasks);
}

TEST(SchedSampler, ItsFilesAreParsed) {
  SchedFigures figures;
  EXPECT_TRUE(ParseSchedstat("1234 567 8\n", &figures));
  EXPECT_EQ(figures.run_ns, 1234u);
  EXPECT_EQ(figures.runnable_ns, 567u);
  EXPECT_FALSE(ParseSchedstat("1234\n", &figures));
  EXPECT_FALSE(ParseSchedstat("", &figures));
  EXPECT_TRUE(
      ParseSwitches("Name:\tx\nvoluntary_ctxt_switches:\t21\n"
                    "nonvoluntary_ctxt_switches:\t3\n",
                    &figures));
  EXPECT_EQ(figures.voluntary, 21u);
  EXPECT_EQ(figures.preempted, 3u);
  EXPECT_FALSE(ParseSwitches("Name:\tx\n", &figures));
}

TEST(SchedSampler, ABusyThreadsFiguresGrow) {
  const int tasks = OpenTasks();
  SchedSampler sampler(tasks, true);
  const auto id_of = [](uint32_t thread, bool) { return thread; };
  SchedBatch batch;
  sampler.Start(id_of, &batch);
  ASSERT_GE(batch.thread_size(), 1);
  for (const uint64_t run_ns : batch.run_ns()) EXPECT_EQ(run_ns, 0u);
  uint64_t ran = 0, voluntary = 0;
  while (ran == 0 || voluntary == 0) {
    usleep(100);
    batch.Clear();
    sampler.Read(id_of, &batch);
    for (int i = 0; i < batch.thread_size(); ++i) {
      if (batch.thread(i) != static_cast<uint32_t>(gettid())) continue;
      ran = batch.run_ns(i);
      voluntary = batch.voluntary(i);
    }
  }
  EXPECT_EQ(batch.voluntary_size(), batch.thread_size());
  close(tasks);
}

}  // namespace
}  // namespace pymemrun
