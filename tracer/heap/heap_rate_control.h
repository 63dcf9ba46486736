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

  // The next mean, from one that cost `spent` of the program's time so that it
  // costs `wanted`; both are shares. `fill`: of the table of sampled blocks,
  // which must not run full.
  static uint64_t NextMean(uint64_t mean, double spent, double wanted,
                           double fill);

  // The share of the program's time that samples may take of `budget` where the
  // hooks alone take `hooks`: never nothing, or nothing would be seen.
  static double ForSamples(double budget, double hooks);
  // How many allocations of `size` one that was taken stands for.
  static double StandsFor(size_t size, uint64_t mean);

  // What the hooks add to an allocation and its free, in ns.
  void SetHookNs(double ns) { hook_ns_ = ns; }

  // The collector learns how allocations are sampled from here on. `adapted`:
  // chosen by cost.
  static void Tell(const HeapRatesConfig& rates, bool adapted);
  // The same of the rates that are in force, to a collector that does not know
  // them.
  void TellNow() const;

  // An allocation of `size` has been taken.
  void Took(size_t size);
  // It has been recorded, by the rates until now.
  void Recorded() {
    if (__builtin_expect(sampler_.rates().grows, 0)) Grow();
  }
  // What a sample or its free has taken, and the moment at which it was over.
  void Spent(uint64_t ns, uint64_t now_ns);

  bool adapts() const { return sampler_.rates().adapt; }

 private:
  void Step();
  void Grow();

  HeapSampler& sampler_;
  const SampledBlocks& blocks_;
  double hook_ns_ = 0;
  // Since the last step. The allocations as an estimate.
  std::atomic<uint64_t> allocations_{0};
  std::atomic<uint64_t> spent_ns_{0};
  std::atomic<uint64_t> next_step_ns_{0};
  std::atomic<uint64_t> recorded_{0};  // where the mean grows
  // Of the thread whose step it is.
  std::atomic<uint64_t> cpu_ns_{0};
};

// Accounts for a sample, or for the free of one, from its making to its end.
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
