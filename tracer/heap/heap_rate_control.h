// --heap-rates auto: chooses the mean number of bytes between samples so that
// sampling keeps to its budget, from what the samples before have cost and from
// how many allocations have gone through the hooks. Any thread, with or without
// the GIL; no lock, nothing allocates.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_RATE_CONTROL_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_RATE_CONTROL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/heap/heap_sampler.h"
#include "tracer/heap/sampled_blocks.h"

namespace pymemrun {

class HeapRateControl {
 public:
  constexpr HeapRateControl(HeapSampler& sampler, const SampledBlocks& blocks)
      : sampler_(sampler), blocks_(blocks) {}

  // Returns the next mean. `spent` and `wanted` are shares of the program's
  // time: the cost with the current mean, and the budget. `fill` is that of the
  // table of sampled blocks, which must not become full.
  static uint64_t NextMean(uint64_t mean, double spent, double wanted,
                           double fill);

  // Share of the program's time that samples may take of `budget`, if the hooks
  // alone take `hooks`. Never 0, or nothing would be sampled.
  static double ForSamples(double budget, double hooks);
  // Number of allocations of `size` that a sampled one stands for.
  static double StandsFor(size_t size, uint64_t mean);

  // Sets what the hooks add to an allocation and its free, in nanoseconds.
  void SetHookNs(double ns) { hook_ns_ = ns; }

  // Sends the rates to the collector: allocations are sampled by them from now
  // on. `adapted`: chosen by cost.
  static void Tell(const HeapRatesConfig& rates, bool adapted);
  // Sends the current rates to a collector that does not know them.
  void TellNow() const;

  // An allocation of `size` was sampled.
  void Took(size_t size);
  // It was recorded, with the current rates.
  void Recorded() {
    if (__builtin_expect(sampler_.rates().grows, 0)) Grow();
  }
  // A sample or its free took `ns`, until `now_ns`.
  void Spent(uint64_t ns, uint64_t now_ns);

  bool adapts() const { return sampler_.rates().adapt; }

 private:
  void Step();
  void Grow();

  HeapSampler& sampler_;
  const SampledBlocks& blocks_;
  double hook_ns_ = 0;
  // Counts since the last step; allocations are an estimate.
  std::atomic<uint64_t> allocations_{0};
  std::atomic<uint64_t> spent_ns_{0};
  std::atomic<uint64_t> next_step_ns_{0};
  std::atomic<uint64_t> recorded_{0};  // samples; for growing rates
  // CPU time at the last step.
  std::atomic<uint64_t> cpu_ns_{0};
};

// Measures the time of a sample or of its free, during its lifetime.
class HeapCost {
 public:
  explicit HeapCost(HeapRateControl& control)
      : control_(control), begin_ns_(control.adapts() ? MonotonicNs() : 0) {}
  ~HeapCost() {
    if (begin_ns_ == 0) return;
    const uint64_t now = MonotonicNs();
    control_.Spent(now - begin_ns_, now);
  }
  HeapCost(const HeapCost&) = delete;
  HeapCost& operator=(const HeapCost&) = delete;

 private:
  HeapRateControl& control_;
  const uint64_t begin_ns_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_RATE_CONTROL_H_
