#include "collector/pages/page_rings.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <vector>

#include "collector/pages/fault_fixture.h"

namespace pymemrun {
namespace {

constexpr size_t kDataBytes = 4096;

// A ring in memory, and the kernel's part.
class FakeRing {
 public:
  void Push(const void* record, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) {
      data_[(page_.data_head + i) % kDataBytes] =
          static_cast<const char*>(record)[i];
    }
    page_.data_head += bytes;
  }
  void Sample(uint32_t thread, uint64_t time_ns, uint64_t address) {
    struct {
      perf_event_header header;
      uint64_t ip;
      uint32_t pid, tid;
      uint64_t time, addr;
    } record = {
        {PERF_RECORD_SAMPLE, 0, 40}, 0x1234, 1, thread, time_ns, address};
    Push(&record, sizeof(record));
  }
  void Lost(uint64_t count) {
    struct {
      perf_event_header header;
      uint64_t id, lost;
    } record = {{PERF_RECORD_LOST, 0, 24}, 0, count};
    Push(&record, sizeof(record));
  }
  PageRing Reader() { return PageRing(&page_, data_, kDataBytes); }
  uint64_t tail() const { return page_.data_tail; }
  uint64_t head() const { return page_.data_head; }

 private:
  perf_event_mmap_page page_ = {};
  alignas(8) char data_[kDataBytes];
};

TEST(PageRing, SamplesComeInOrderAlsoWhereTheyWrap) {
  FakeRing ring;
  PageRing reader = ring.Reader();
  uint64_t next = 0;
  std::vector<PageSample> samples;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 80; ++i, ++next) ring.Sample(7, next, next * 4096);
    reader.Drain(&samples);
    EXPECT_EQ(ring.tail(), ring.head());
  }
  ASSERT_EQ(samples.size(), next);
  for (uint64_t i = 0; i < next; ++i) {
    ASSERT_EQ(samples[i].time_ns, i);
    ASSERT_EQ(samples[i].address, i * 4096);
    ASSERT_EQ(samples[i].instruction, 0x1234u);
    ASSERT_EQ(samples[i].thread, 7u);
  }
}

TEST(PageRing, LossesAreCountedAndOtherRecordsPassedOver) {
  FakeRing ring;
  PageRing reader = ring.Reader();
  const perf_event_header other = {PERF_RECORD_THROTTLE, 0, 8};
  ring.Push(&other, sizeof(other));
  ring.Lost(5);
  ring.Sample(7, 1, 0);
  ring.Lost(6);
  std::vector<PageSample> samples;
  reader.Drain(&samples);
  EXPECT_EQ(samples.size(), 1u);
  EXPECT_EQ(reader.lost(), 11u);
}

TEST(PageRing, ARecordWithoutSizeEndsTheDrain) {
  FakeRing ring;
  PageRing reader = ring.Reader();
  const perf_event_header none = {PERF_RECORD_SAMPLE, 0, 0};
  ring.Push(&none, sizeof(none));
  std::vector<PageSample> samples;
  reader.Drain(&samples);
  EXPECT_TRUE(samples.empty());
  EXPECT_EQ(ring.tail(), ring.head());
}

TEST(PageRings, TheKernelsSamplesOfThisProcessArrive) {
  constexpr int kFirstFd = 200;
  if (!OpenFaultsOfCpus(kFirstFd)) {
    GTEST_SKIP() << "no perf events here: " << strerror(errno);
  }
  auto rings =
      PageRings::Map(kFirstFd, static_cast<uint32_t>(CpusOnline()), false);
  ASSERT_TRUE(rings.ok()) << rings.status();
  EXPECT_EQ(fcntl(kFirstFd, F_GETFD), -1);  // closed, and yet it counts
  constexpr size_t kPages = 1000;
  char* memory = MapFreshPages(kPages);
  for (size_t i = 0; i < kPages; ++i) memory[i * 4096 + 8] = 1;
  std::vector<PageSample> samples;
  (*rings)->Drain(UINT64_MAX, &samples);
  std::set<uint64_t> pages;
  const uint64_t begin = reinterpret_cast<uint64_t>(memory);
  uint64_t time = 0;
  for (const PageSample& sample : samples) {
    EXPECT_GE(sample.time_ns, time);
    time = sample.time_ns;
    EXPECT_EQ(sample.thread, static_cast<uint32_t>(gettid()));
    if (sample.address < begin || sample.address >= begin + kPages * 4096) {
      continue;
    }
    EXPECT_EQ(sample.address % 4096, 8u);
    pages.insert(sample.address / 4096);
  }
  EXPECT_EQ(pages.size(), kPages);
  EXPECT_EQ((*rings)->lost(), 0u);
  munmap(memory, kPages * 4096);
}

TEST(PageRings, WhatIsNoPerfEventIsAnError) {
  const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  EXPECT_FALSE(PageRings::Map(fd, 1, false).ok());
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace pymemrun
