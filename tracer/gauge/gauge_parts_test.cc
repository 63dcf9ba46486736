// What the gauge stands on: the page-fault counters and the sum of our own
// mappings, each beside the kernel's own figures; when it reads again.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "tracer/base/own_memory.h"
#include "tracer/gauge/fault_counters.h"
#include "tracer/gauge/rss_gauge.h"

namespace pymemrun {
namespace {

const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

char* FreshPages(size_t count) {
  void* memory = mmap(nullptr, count * kPage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, count * kPage, MADV_NOHUGEPAGE);
  return static_cast<char*>(memory);
}

// Without a sanitizer's look at its shadow, whose pages would count too.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread]] void Touch(char* memory,
                                                                 size_t pages) {
  for (size_t i = 0; i < pages; ++i) memory[i * kPage] = 1;
}

class FaultCountersTest : public testing::Test {
 protected:
  void SetUp() override {
    char reason[256];
    if (!OpenFaultCounters(&counters_, reason, sizeof(reason))) {
      GTEST_SKIP() << reason;
    }
  }
  void TearDown() override { CloseFaultCounters(&counters_); }

  uint64_t Faults() const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < counters_.count; ++i) sum += *counters_.heads[i];
    return sum / kHeadStep;
  }

  FaultCounters counters_ = {};
};

TEST_F(FaultCountersTest, EachTouchedPageCountsOnce) {
  char* memory = FreshPages(1000);
  const uint64_t before = Faults();
  Touch(memory, 1000);
  EXPECT_GE(Faults() - before, 1000u);
  EXPECT_LE(Faults() - before, 1010u);
  munmap(memory, 1000 * kPage);
}

TEST_F(FaultCountersTest, NothingMovesWithoutAFault) {
  volatile uint64_t sum = 0;
  const uint64_t before = Faults();
  for (uint64_t i = 0; i < 1000; ++i) sum = sum + i;
  EXPECT_EQ(Faults(), before);
}

TEST_F(FaultCountersTest, LaterThreadsAreCounted) {
  char* memory = FreshPages(500);
  std::thread warm([] {});
  warm.join();
  const uint64_t before = Faults();
  std::thread thread([memory] { Touch(memory, 500); });
  thread.join();
  EXPECT_GE(Faults() - before, 500u);
  munmap(memory, 500 * kPage);
}

TEST_F(FaultCountersTest, CountersAreKnownToWorkUntilTheyAreStopped) {
  char reason[256] = "";
  EXPECT_TRUE(FaultCountersWork(counters_, reason, sizeof(reason)));
  EXPECT_STREQ(reason, "");
  ASSERT_EQ(prctl(PR_TASK_PERF_EVENTS_DISABLE), 0);
  EXPECT_FALSE(FaultCountersWork(counters_, reason, sizeof(reason)));
  EXPECT_STREQ(reason, "the page-fault counters have stopped");
  ASSERT_EQ(prctl(PR_TASK_PERF_EVENTS_ENABLE), 0);
}

TEST_F(FaultCountersTest, ACpuWithoutACounterIsNamed) {
  const int cpu = sched_getcpu();
  cpu_set_t old, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(old), &old), 0);
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  // As if that CPU had been offline when the others got theirs.
  FaultCounters others = counters_;
  others.count = 0;
  for (uint32_t i = 0; i < counters_.count; ++i) {
    if (counters_.cpus[i] == cpu) continue;
    others.heads[others.count] = counters_.heads[i];
    others.cpus[others.count++] = counters_.cpus[i];
  }
  char reason[256];
  EXPECT_FALSE(FaultCountersWork(others, reason, sizeof(reason)));
  EXPECT_EQ(std::string(reason), "CPU " + std::to_string(cpu) +
                                     " has no page-fault counter: it was "
                                     "offline at the start");
  EXPECT_EQ(sched_setaffinity(0, sizeof(old), &old), 0);
}

TEST_F(FaultCountersTest, TheyLieInOnePlace) {
  ASSERT_LT(counters_.begin, counters_.end);
  for (uint32_t i = 0; i < counters_.count; ++i) {
    const uintptr_t head = reinterpret_cast<uintptr_t>(counters_.heads[i]);
    EXPECT_GE(head, counters_.begin);
    EXPECT_LT(head, counters_.end);
  }
}

TEST(ReadPaceTest, PausesGrowFromTheLastSignOfUnrestToTheLongest) {
  ReadPace pace;
  EXPECT_EQ(pace.Next(3200, false), 3200u);
  EXPECT_EQ(pace.Next(3200, true), 101u);
  EXPECT_EQ(pace.Next(3200, false), 202u);
  EXPECT_EQ(pace.Next(3200, true), 101u);
  EXPECT_EQ(pace.Next(3200, false), 202u);
  for (uint64_t pause : {404, 808, 1616, 3200, 3200}) {
    EXPECT_EQ(pace.Next(3200, false), pause);
  }
  EXPECT_EQ(pace.Next(0, true), 0u);
}

TEST_F(FaultCountersTest, ForkedChildIsNotCounted) {
  char* memory = FreshPages(500);
  const pid_t warm = fork();
  if (warm == 0) _exit(0);
  waitpid(warm, nullptr, 0);
  const uint64_t before = Faults();
  const pid_t child = fork();
  if (child == 0) {
    Touch(memory, 500);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_LT(Faults() - before, 400u);
  munmap(memory, 500 * kPage);
}

TEST(OwnMemoryTest, CountsTheResidentPagesOfNamedMappingsOnly) {
  const uint64_t before = OwnMemory::ResidentBytes();
  char* ours = FreshPages(64);
  char* other = FreshPages(64);
  OwnMemory::Add(ours, 64 * kPage);
  Touch(ours, 10);
  Touch(other, 64);
  EXPECT_EQ(OwnMemory::ResidentBytes() - before, 10 * kPage);
  munmap(other, 64 * kPage);
  EXPECT_EQ(OwnMemory::ResidentBytes() - before, 10 * kPage);
}

TEST(OwnMemoryTest, EmptyMappingsAreNotNamed) {
  const uint64_t before = OwnMemory::ResidentBytes();
  OwnMemory::Add(nullptr, 4096);
  OwnMemory::Add(&before, 0);
  EXPECT_EQ(OwnMemory::ResidentBytes(), before);
}

}  // namespace
}  // namespace pymemrun
