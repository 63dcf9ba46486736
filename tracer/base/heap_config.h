// What is recorded of the heap.
#ifndef PYMEMRUN_TRACER_BASE_HEAP_CONFIG_H_
#define PYMEMRUN_TRACER_BASE_HEAP_CONFIG_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// The first three as in heap.proto.
enum class HeapMode : uint32_t {
  kOff = 0,
  kSampled = 1,
  kAll = 2,
  kStats = 3,  // only how many allocations of each size there are
};

// Allocations below that size, and not below that of the class before it.
struct HeapRateClass {
  uint64_t below_bytes;
  double probability;  // 0: no such allocation is recorded
};
inline constexpr size_t kMaxHeapClasses = 16;

// How allocations are sampled, see HeapRates in heap.proto.
struct HeapRatesConfig {
  uint64_t mean_bytes = 512 * 1024;             // 0: the classes say
  HeapRateClass classes[kMaxHeapClasses] = {};  // rising
  size_t class_count = 0;
  bool adapt = false;    // mean_bytes is where it begins
  bool grows = false;    // the same, see kGrownBytes
  double budget = 0.05;  // what it all may cost, of the program's time
};

// Where adapted rates begin.
inline constexpr uint64_t kAdaptedFromBytes = 64 * 1024;

// Small programs are sampled finely: the mean grows from the one to the other.
inline constexpr uint64_t kGrowsFromBytes = 32 * 1024;
inline constexpr uint64_t kGrownBytes = 512 * 1024;
inline constexpr HeapRatesConfig GrowingRates() {
  HeapRatesConfig rates;
  rates.mean_bytes = kGrowsFromBytes;
  rates.grows = true;
  return rates;
}

// Bits of HeapConfig::domains: 1 << AllocatorKind.
inline constexpr uint32_t kAllHeapDomains = 7;

struct HeapConfig {
  HeapMode mode = HeapMode::kOff;
  HeapRatesConfig rates;
  uint32_t domains = kAllHeapDomains;
  bool native = false;  // C code's allocations too
};

// Whether there are heap events.
inline bool RecordsHeap(const HeapConfig& config) {
  return config.mode == HeapMode::kSampled || config.mode == HeapMode::kAll;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_HEAP_CONFIG_H_
