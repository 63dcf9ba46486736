#include "tracer/heap/heap_rate_control.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "tracer/ring/side_ring.h"

namespace pymemrun {
namespace {

constexpr uint64_t kStepNs = 250'000'000;
constexpr uint64_t kSmallestMean = 64;
// Beyond that little is saved, and of most programs' memory little is seen...
constexpr uint64_t kLargestMean = uint64_t{1} << 20;
// ...but the table of sampled blocks must have room.
constexpr uint64_t kLargestMeanOfMany = uint64_t{1} << 30;
// Of the budget, what is aimed at: the cost varies, and is to stay below.
constexpr double kAim = 0.65;
// Of the budget, what samples may take in any case.
constexpr double kAtLeast = 0.1;
// What a sample costs in all, for each time that it takes in the program: the
// caches that it disturbs, the frees of blocks beside sampled ones, and the
// collector's work. Measured at 2.8 where little memory is in use, at 4.1 where
// it is much.
constexpr double kCostInAll = 3.5;
// Where the mean grows it doubles with each so many samples. What a sample
// stands for hangs on those before it alone, so estimates have no bias.
constexpr uint64_t kSamplesEach = 512;
constexpr uint64_t kDoublings = 4;
static_assert(kGrowsFromBytes << kDoublings == kGrownBytes);
// A sample that took longer was interrupted.
constexpr uint64_t kLongestNs = 50'000;

uint64_t CpuNs() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u +
         static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

// One thread's at a time.
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

uint64_t HeapRateControl::NextMean(uint64_t mean, double spent, double wanted,
                                   double fill) {
  double factor = std::clamp(spent / wanted, 0.25, 4.0);
  if (fill > 0.5) factor = std::max(factor, 2.0);
  // What is about right stays.
  if (factor > 0.85 && factor < 1.15) return mean;
  const double next = static_cast<double>(mean) * factor;
  const uint64_t most = fill > 0.5 ? kLargestMeanOfMany : kLargestMean;
  return std::clamp(static_cast<uint64_t>(next), kSmallestMean, most);
}

double HeapRateControl::ForSamples(double budget, double hooks) {
  return std::max(budget * kAim - hooks, budget * kAtLeast);
}

double HeapRateControl::StandsFor(size_t size, uint64_t mean) {
  // One of no bytes is charged as one.
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
