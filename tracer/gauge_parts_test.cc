// What the gauge stands on: the page-fault counters and the sum of our own
// mappings, each beside the kernel's own figures.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "gtest/gtest.h"
#include "tracer/fault_counters.h"
#include "tracer/own_memory.h"

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
    const int error = OpenFaultCounters(&counters_);
    if (error != 0) {
      GTEST_SKIP() << "no page-fault counters here: " << std::strerror(error);
    }
  }
  void TearDown() override { CloseFaultCounters(&counters_); }

  uint64_t Faults() const {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < counters_.count; ++i) sum += *counters_.heads[i];
    return sum / 8;
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
  // Neighbouring anonymous mappings may be one line of smaps.
  const uint64_t counted = OwnMemory::ResidentBytes() - before;
  EXPECT_GE(counted, 10 * kPage);
  EXPECT_LE(counted, (10 + 64) * kPage + 64 * kPage);
  munmap(other, 64 * kPage);
  EXPECT_GE(OwnMemory::ResidentBytes() - before, 10 * kPage);
}

TEST(OwnMemoryTest, EmptyMappingsAreNotNamed) {
  const uint64_t before = OwnMemory::ResidentBytes();
  OwnMemory::Add(nullptr, 4096);
  OwnMemory::Add(&before, 0);
  EXPECT_EQ(OwnMemory::ResidentBytes(), before);
}

}  // namespace
}  // namespace pymemrun
