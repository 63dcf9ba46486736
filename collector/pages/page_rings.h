// The kernel's side of page events: one ring of perf samples for each CPU.
#ifndef PYMEMRUN_COLLECTOR_PAGES_PAGE_RINGS_H_
#define PYMEMRUN_COLLECTOR_PAGES_PAGE_RINGS_H_

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "collector/perf/perf_ring.h"

namespace pymemrun {

// One page fault, as the kernel sampled it.
struct PageSample {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t address;
  uint64_t instruction;  // the kernel's own where it faulted for the program
  uint32_t thread;       // Linux thread id
  // MappingDef.id of its mapping; whether that is a file, whether it was part
  // of a huge page, and whether it is the zero page, which takes no memory.
  // Found out soon, because memory may be released.
  uint32_t mapping = 0;
  bool of_file = false;
  absl::optional<bool> huge = absl::nullopt;
  absl::optional<bool> zero = absl::nullopt;
};

// No fault takes longer, not where its thread waits for a processor either: a
// thread that waited longer is not in a fault, and its signal was lost.
inline constexpr uint64_t kLongestFaultNs = 200000000;

// One ring of them. Not thread safe.
class PageRing {
 public:
  // As PerfRing's.
  PageRing(perf_event_mmap_page* page, char* data, size_t data_bytes)
      : ring_(page, data, data_bytes) {}

  // Appends the samples that are there, in the order of time, and gives their
  // room back.
  void Drain(std::vector<PageSample>* out) { DrainSamples(&ring_, out); }
  uint64_t lost() const { return ring_.lost(); }

  static void DrainSamples(PerfRing* ring, std::vector<PageSample>* out);

 private:
  PerfRing ring_;
};

// All CPUs' rings. Not thread safe.
class PageRings {
 public:
  // As PerfRings::Map, at most 8 MiB each and 32 MiB for all. Those of a forked
  // child: 512 KiB and 16 MiB.
  static absl::StatusOr<std::unique_ptr<PageRings>> Map(int first_fd,
                                                        uint32_t count,
                                                        bool forked);

  // Appends the samples of all CPUs that are not younger than `until_ns`, in
  // the order of time; the younger ones come with a later call, so that samples
  // of CPUs looked at earlier do not come behind them. One that comes later
  // than that, because its CPU was held up, is out of order.
  void Drain(uint64_t until_ns, std::vector<PageSample>* out);

  uint64_t lost() const { return rings_->lost(); }
  // How many samples one CPU's ring has room for.
  size_t samples_in_ring() const;

 private:
  explicit PageRings(std::unique_ptr<PerfRings> rings)
      : rings_(std::move(rings)) {}

  const std::unique_ptr<PerfRings> rings_;
  HeldSamples<PageSample> held_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_PAGE_RINGS_H_
