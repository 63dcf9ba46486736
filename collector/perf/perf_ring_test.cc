#include "collector/perf/perf_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

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
  PerfRing Reader() { return PerfRing(&page_, data_, kDataBytes); }
  bool IsEmpty() const { return page_.data_tail == page_.data_head; }

 private:
  perf_event_mmap_page page_ = {};
  alignas(8) char data_[kDataBytes];
};

struct Numbered {
  perf_event_header header;
  uint64_t numbers[11];
};

TEST(PerfRing, ALongRecordIsCutAndAWrappedOneWhole) {
  FakeRing ring;
  PerfRing reader = ring.Reader();
  uint64_t pushed = 0, taken = 0;
  for (int round = 0; round < 100; ++round) {
    // 96 bytes, which does not divide the ring.
    Numbered record = {{PERF_RECORD_SAMPLE, 0, sizeof(Numbered)}, {}};
    for (uint64_t& number : record.numbers) number = pushed;
    ring.Push(&record, sizeof(record));
    ++pushed;
    reader.Drain(
        [&](const perf_event_header& header, const char* data, size_t bytes) {
          EXPECT_EQ(header.size, sizeof(Numbered));
          ASSERT_EQ(bytes, PerfRing::kMostBytes);
          uint64_t last = 0;
          std::memcpy(&last, data + bytes - sizeof(last), sizeof(last));
          EXPECT_EQ(last, taken);
          ++taken;
        });
    EXPECT_TRUE(ring.IsEmpty());
  }
  EXPECT_EQ(taken, pushed);
}

TEST(PerfRings, WhatIsNoPerfEventIsAnErrorThatNamesIt) {
  const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
  const auto rings = PerfRings::Map(fd, 1, {8192, 4096, 8192}, "odd events");
  ASSERT_FALSE(rings.ok());
  EXPECT_NE(rings.status().message().find("odd events"), std::string::npos);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1);
}

struct Sample {
  uint64_t time_ns;
  int from;
};

TEST(HeldSamples, SamplesOfTwoSourcesComeInTheOrderOfTime) {
  HeldSamples<Sample> held;
  held.Add([](std::vector<Sample>* out) {
    for (const uint64_t time : {10, 20, 40}) out->push_back({time, 1});
  });
  held.Add([](std::vector<Sample>* out) {
    for (const uint64_t time : {5, 20, 50}) out->push_back({time, 2});
  });
  std::vector<Sample> given;
  held.Give(20, &given);
  ASSERT_EQ(given.size(), 4u);
  EXPECT_EQ(given[0].time_ns, 5u);
  EXPECT_EQ(given[2].from, 1);  // who came first, at the same time
  held.Give(~uint64_t{0}, &given);
  ASSERT_EQ(given.size(), 6u);
  EXPECT_EQ(given[5].time_ns, 50u);
}

}  // namespace
}  // namespace pymemrun
