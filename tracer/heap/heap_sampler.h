// Which allocations are recorded: each with a known probability, whatever was
// before it. A thread counts down to its next sample: bytes, drawn from an
// exponential distribution, or for each class of sizes allocations, drawn from
// a geometric one. Neither remembers, so a count may be drawn anew at any time.
//
// Any thread, with or without the GIL; no lock, nothing allocates.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_SAMPLER_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_SAMPLER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/heap_config.h"

namespace pymemrun {

// Counts that Charge() decrements.
extern constinit thread_local int64_t t_heap_bytes_left;
extern constinit thread_local int64_t t_heap_left[kMaxHeapClasses];

class HeapSampler {
 public:
  // Sets the rates. Draws the counts of this thread anew; other threads use the
  // new rates from their next sample on.
  void Set(const HeapRatesConfig& rates);
  // Changes the mean, if there is one; otherwise as Set().
  void SetMean(uint64_t bytes);
  uint64_t mean_bytes() const {
    return mean_bytes_.load(std::memory_order_relaxed);
  }
  // The rates as they were set, without later changes of the mean.
  const HeapRatesConfig& rates() const { return rates_; }
  bool by_class() const { return rates_.mean_bytes == 0; }

  // Counts an allocation, for sampling by bytes. Returns true if Take() must be
  // called.
  static bool ChargeBytes(size_t size) {
    t_heap_bytes_left -= static_cast<int64_t>(size);
    return t_heap_bytes_left < 0;
  }
  // The same for sampling by classes.
  bool ChargeClass(size_t size) const {
    size_t i = 0;
    while (i < rates_.class_count && size >= rates_.classes[i].below_bytes) {
      ++i;
    }
    return i == rates_.class_count || --t_heap_left[i] < 0;
  }

  // Returns whether the allocation just charged is recorded, and draws the next
  // count.
  bool TakeBytes() const;
  bool TakeClass(size_t size) const;

  // Samples nothing on this thread, or for this many bytes, until its counts
  // are drawn again.
  static constexpr int64_t kForLong = 1'000'000'000'000'000'000;
  static void Rest(int64_t bytes = kForLong);
  // Draws the counts again at the next allocation.
  static void DrawAnew();

 private:
  HeapRatesConfig rates_;
  std::atomic<uint64_t> mean_bytes_{0};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_SAMPLER_H_
