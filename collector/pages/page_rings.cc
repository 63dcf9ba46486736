#include "collector/pages/page_rings.h"

#include <cstring>

namespace pymemrun {
namespace {

constexpr PerfRings::Sizes kSizes = {size_t{8} << 20, size_t{64} << 10,
                                     size_t{32} << 20};
// Smaller, because the kernel allocates all pages of a ring at once, and many
// forked children end soon.
constexpr PerfRings::Sizes kForkedSizes = {size_t{512} << 10, size_t{64} << 10,
                                           size_t{16} << 20};

// PERF_RECORD_SAMPLE with IP, TID, TIME and ADDR: the kernel's order of them.
// See perf_event_open(2).
struct SampleRecord {
  perf_event_header header;
  uint64_t instruction;
  uint32_t process;
  uint32_t thread;
  uint64_t time_ns;
  uint64_t address;
};
static_assert(sizeof(SampleRecord) == 40);

}  // namespace

void PageRing::DrainSamples(PerfRing* ring, std::vector<PageSample>* out) {
  ring->Drain(
      [out](const perf_event_header& header, const char* record, size_t bytes) {
        if (header.type != PERF_RECORD_SAMPLE || bytes < sizeof(SampleRecord)) {
          return;
        }
        SampleRecord sample;
        std::memcpy(&sample, record, sizeof(sample));
        out->push_back({sample.time_ns, sample.address, sample.instruction,
                        sample.thread});
      });
}

absl::StatusOr<std::unique_ptr<PageRings>> PageRings::Map(int first_fd,
                                                          uint32_t count,
                                                          bool forked) {
  auto rings = PerfRings::Map(first_fd, count, forked ? kForkedSizes : kSizes,
                              "page events");
  if (!rings.ok()) return rings.status();
  return std::unique_ptr<PageRings>(new PageRings(*std::move(rings)));
}

void PageRings::Drain(uint64_t until_ns, std::vector<PageSample>* out) {
  for (PerfRing& ring : rings_->rings()) {
    held_.Add([&ring](std::vector<PageSample>* held) {
      PageRing::DrainSamples(&ring, held);
    });
  }
  held_.Give(until_ns, out);
}

size_t PageRings::samples_in_ring() const {
  return rings_->data_bytes() / sizeof(SampleRecord);
}

}  // namespace pymemrun
