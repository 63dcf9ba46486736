// The kernel's rings of perf records, one for each CPU. Used for page faults
// and context switches.
#ifndef PYMEMRUN_COLLECTOR_PERF_PERF_RING_H_
#define PYMEMRUN_COLLECTOR_PERF_PERF_RING_H_

#include <linux/perf_event.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace pymemrun {

// The consumer of one ring: a perf_event_mmap_page, and behind it the records,
// used circularly. Not thread safe; the kernel is the producer.
class PerfRing {
 public:
  // What is given of a record, at most; longer ones are cut.
  static constexpr size_t kMostBytes = 64;
  // `bytes` of the record are at `record`, valid during the call.
  using Take = absl::FunctionRef<void(const perf_event_header& header,
                                      const char* record, size_t bytes)>;

  // `data_bytes`, behind `page`, is a power of two. Both must outlive the ring.
  PerfRing(perf_event_mmap_page* page, char* data, size_t data_bytes)
      : page_(page), data_(data), data_bytes_(data_bytes) {}

  // Gives the records that are there in their order, and then their room back.
  void Drain(Take take);
  // Number of records that the kernel reported as lost.
  uint64_t lost() const { return lost_; }

 private:
  perf_event_mmap_page* page_;
  char* data_;
  size_t data_bytes_;
  uint64_t lost_ = 0;
};

// All CPUs' rings. Not thread safe.
class PerfRings {
 public:
  // What a ring may be, in bytes: powers of two.
  struct Sizes {
    size_t largest, smallest;
    size_t most_for_all;
  };
  // Maps the events `first_fd` to `first_fd + count - 1`, and closes these: the
  // mapping keeps the event. All rings have one size, the largest of
  // `sizes.largest` and its halves that the system grants and that is within
  // `sizes.most_for_all`. Fails when not even the smallest is granted; `what`
  // names the events for that.
  static absl::StatusOr<std::unique_ptr<PerfRings>> Map(int first_fd,
                                                        uint32_t count,
                                                        const Sizes& sizes,
                                                        const char* what);
  ~PerfRings();
  PerfRings(const PerfRings&) = delete;
  PerfRings& operator=(const PerfRings&) = delete;

  std::vector<PerfRing>& rings() { return rings_; }
  size_t data_bytes() const { return data_bytes_; }  // of each
  uint64_t lost() const;

 private:
  PerfRings() = default;
  static std::unique_ptr<PerfRings> TryMap(int first_fd, uint32_t count,
                                           size_t data_bytes);

  struct Mapping {
    void* base;
    size_t bytes;
  };
  std::vector<Mapping> mappings_;
  std::vector<PerfRing> rings_;
  size_t data_bytes_ = 0;
};

// Samples of several CPUs, put in the order of time. `Sample` has a `time_ns`.
// Not thread safe.
template <class Sample>
class HeldSamples {
 public:
  // Has `fill` append samples in the order of time to a vector, and puts them
  // among the others.
  template <class Fill>
  void Add(Fill fill) {
    const auto before = static_cast<std::ptrdiff_t>(held_.size());
    fill(&held_);
    std::inplace_merge(held_.begin(), held_.begin() + before, held_.end(),
                       Older);
  }
  // Moves those that are not younger than `until_ns` to the end of `out`, in
  // the order of time. One that is added later than a younger one was given is
  // out of order.
  void Give(uint64_t until_ns, std::vector<Sample>* out) {
    const auto end = std::upper_bound(
        held_.begin(), held_.end(), until_ns,
        [](uint64_t time, const Sample& s) { return time < s.time_ns; });
    out->insert(out->end(), held_.begin(), end);
    held_.erase(held_.begin(), end);
  }

 private:
  static bool Older(const Sample& a, const Sample& b) {
    return a.time_ns < b.time_ns;
  }

  std::vector<Sample> held_;  // in the order of time
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PERF_PERF_RING_H_
