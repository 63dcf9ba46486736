// How much memory calls can have filled by now: a program may forge such calls,
// and each page of one takes the collector time. Used by PageCollector.
#ifndef PYMEMRUN_COLLECTOR_PAGES_POPULATE_BUDGET_H_
#define PYMEMRUN_COLLECTOR_PAGES_POPULATE_BUDGET_H_

#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace pymemrun {

// Not thread safe.
class PopulateBudget {
 public:
  // Whether so many bytes can have come between the last call and `now_ns`, on
  // CLOCK_MONOTONIC; they are counted. If not, the call can never have been.
  bool Take(uint64_t bytes, uint64_t now_ns) {
    const uint64_t passed_ns =
        std::min(now_ns - then_ns_, memory_bytes_ / bytes_per_ns_);
    then_ns_ = now_ns;
    bytes_ = std::min(bytes_ + passed_ns * bytes_per_ns_, memory_bytes_);
    if (bytes > bytes_) {
      ++refused_;
      return false;
    }
    bytes_ -= bytes;
    return true;
  }

  uint64_t refused() const { return refused_; }  // calls

 private:
  // No processor fills memory faster than that, and no call fills more than
  // there is.
  static constexpr uint64_t kProcessorBytesPerNs = 64;

  const uint64_t bytes_per_ns_ =
      kProcessorBytesPerNs *
      static_cast<uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  const uint64_t memory_bytes_ =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
      static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t bytes_ = 0, then_ns_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PAGES_POPULATE_BUDGET_H_
