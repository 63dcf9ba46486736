#include "tracer/heap/heap_rate_control.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "tracer/ring/side_ring.h"

namespace pymemrun {
namespace {

// A control loop: every 250 ms the cost of the last step is compared with the
// budget, and the mean distance between samples is multiplied by their ratio.
constexpr uint64_t kStepNs = 250'000'000;
constexpr uint64_t kSmallestMean = 64;
// A larger mean saves little more time, and shows little of most programs.
constexpr uint64_t kLargestMean = uint64_t{1} << 20;
// If the table of sampled blocks is filling up, a larger mean is allowed.
constexpr uint64_t kLargestMeanOfMany = uint64_t{1} << 30;
// Part of the budget to aim at: the cost varies and must stay below the budget.
constexpr double kAim = 0.65;
// Part of the budget that samples may always take.
constexpr double kAtLeast = 0.1;
// Total cost of a sample, relative to the time measured in its hook: disturbed
// caches, frees of neighbours of sampled blocks, and work of the collector.
// Measured: 2.8 with little memory in use, 4.1 with much.
constexpr double kCostInAll = 3.5;
// With growing rates the mean doubles after each kSamplesEach samples. The rate
// depends only on earlier samples, so estimates have no bias.
constexpr uint64_t kSamplesEach = 512;
constexpr uint64_t kDoublings = 4;
static_assert(kGrowsFromBytes << kDoublings == kGrownBytes);
// A sample that took longer than this was interrupted; it counts as this long.
constexpr uint64_t kLongestNs = 50'000;

uint64_t CpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u +
         static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

// One step of the control loop. Spent() calls it on one thread at a time.
void HeapRateControl::Step() {
  const uint64_t cpu = CpuNs();
  const uint64_t before = cpu_ns_.exchange(cpu, std::memory_order_relaxed);
  const auto spent =
      static_cast<double>(spent_ns_.exchange(0, std::memory_order_relaxed));
  const uint64_t allocations =
      allocations_.exchange(0, std::memory_order_relaxed);
  if (before == 0 || cpu <= before) return;
  const double hooks = static_cast<double>(allocations) * hook_ns_;
  const double own =
      std::max(static_cast<double>(cpu - before) - spent - hooks, 1.0);
  const uint64_t mean = sampler_.mean_bytes();
  const uint64_t next = NextMean(
      mean, spent * kCostInAll / own,
      ForSamples(sampler_.rates().budget, hooks / own), blocks_.fill());
  if (next == mean) return;
  HeapRatesConfig adapted;
  adapted.mean_bytes = next;
  Tell(adapted, true);
  sampler_.SetMean(next);
}

// The mean changes by a factor of 4 at most. A table that is more than half
// full overrides the budget.
uint64_t HeapRateControl::NextMean(uint64_t mean, double spent, double wanted,
                                   double fill) {
  double factor = std::clamp(spent / wanted, 0.25, 4.0);
  if (fill > 0.5) factor = std::max(factor, 2.0);
  // A mean that is about right stays: each change is an item in the side ring.
  if (factor > 0.85 && factor < 1.15) return mean;
  const double next = static_cast<double>(mean) * factor;
  const uint64_t most = fill > 0.5 ? kLargestMeanOfMany : kLargestMean;
  return std::clamp(static_cast<uint64_t>(next), kSmallestMean, most);
}

// The share of the budget left for samples, when `hooks` is the share that the
// hooks themselves take.
double HeapRateControl::ForSamples(double budget, double hooks) {
  return std::max(budget * kAim - hooks, budget * kAtLeast);
}

// The inverse of the probability 1 - exp(-bytes / mean), by expm1 to be exact
// for small sizes.
double HeapRateControl::StandsFor(size_t size, uint64_t mean) {
  // An allocation of 0 bytes counts as 1 byte.
  const double bytes = static_cast<double>(std::max<size_t>(size, 1));
  return -1 / std::expm1(-bytes / static_cast<double>(mean));
}

void HeapRateControl::Tell(const HeapRatesConfig& rates, bool adapted) {
  SideHeapClass classes[kMaxHeapClasses];
  for (size_t i = 0; i < rates.class_count; ++i) {
    classes[i] = {rates.classes[i].below_bytes, rates.classes[i].probability};
  }
  const size_t bytes = rates.class_count * sizeof(classes[0]);
  SideItem item(SideKind::kHeapRates, bytes);
  if (!item.ok()) return;
  SideHeapRates told;
  told.flags = adapted ? kSideAdapted : 0;
  told.detail = static_cast<uint32_t>(rates.class_count);
  told.time_ns = MonotonicNs();
  told.mean_bytes = rates.mean_bytes;
  item.Fill(told);
  item.Append(classes, bytes);
  item.Commit();
}

void HeapRateControl::TellNow() const {
  HeapRatesConfig now = sampler_.rates();
  if (!sampler_.by_class()) now.mean_bytes = sampler_.mean_bytes();
  Tell(now, now.adapt);
}

void HeapRateControl::Took(size_t size) {
  if (!adapts()) return;
  const double count = StandsFor(size, sampler_.mean_bytes());
  allocations_.fetch_add(static_cast<uint64_t>(count + 0.5),
                         std::memory_order_relaxed);
}

void HeapRateControl::Grow() {
  const uint64_t recorded =
      recorded_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (recorded % kSamplesEach != 0) return;
  HeapRatesConfig grown;
  grown.mean_bytes = kGrowsFromBytes
                     << std::min<uint64_t>(recorded / kSamplesEach, kDoublings);
  if (grown.mean_bytes == sampler_.mean_bytes()) return;
  Tell(grown, false);
  sampler_.SetMean(grown.mean_bytes);
}

// Any thread. The compare-and-swap lets one thread take each step.
void HeapRateControl::Spent(uint64_t ns, uint64_t now_ns) {
  spent_ns_.fetch_add(std::min(ns, kLongestNs), std::memory_order_relaxed);
  uint64_t next = next_step_ns_.load(std::memory_order_relaxed);
  if (now_ns < next) return;
  if (!next_step_ns_.compare_exchange_strong(next, now_ns + kStepNs,
                                             std::memory_order_relaxed)) {
    return;
  }
  Step();
}

}  // namespace pymemrun
