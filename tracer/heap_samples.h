// What the hooks of --heap sampled do about an allocation, whoever made it.
#ifndef PYMEMRUN_TRACER_HEAP_SAMPLES_H_
#define PYMEMRUN_TRACER_HEAP_SAMPLES_H_

#include <atomic>
#include <cstddef>

#include "tracer/heap_log.h"
#include "tracer/heap_sampler.h"

namespace pymemrun {

// By bytes, and by classes of sizes: Charge() counts an allocation; where that
// is true, Take() says whether to record it.
struct ByBytes {
  static bool Charge(size_t size) {
    return HeapSampler::ChargeBytes(size + (size == 0));
  }
  static bool Take(size_t) { return HeapSampler::TakeBytes(); }
};
struct ByClass {
  static bool Charge(size_t size) { return HeapSampler::ChargeClass(size); }
  static bool Take(size_t size) { return HeapSampler::TakeClass(size); }
};

// Any thread, with or without the GIL; nothing allocates.
class HeapSamples {
 public:
  // Whether allocations are recorded; frees are from the first time on.
  static void Record(bool on);
  static bool records() { return Is(kRecords); }
  static bool has_begun() { return !Is(kNotBegun); }

  // Whether the allocation, which has been charged, is to be recorded.
  template <class Sampler>
  static bool Take(size_t size) {
    if (SideRing::page() == nullptr) {  // a forked child, or tracing has ended
      HeapSampler::Rest();
      return false;
    }
    return Sampler::Take(size) && records();
  }
  // Records it, if there is room.
  static void Add(const HeapBlock& block);
  // The same of a mapping, which no free() will name.
  static void AddMapping(const HeapBlock& mapping);

  // The block is about to be freed, and may have been recorded.
  static void Goes(const void* block);
  // The same, but for the record. Whether it was recorded.
  static bool Remove(const void* block);
  // Its free failed, as that of a realloc may.
  static void PutBack(const void* block);

 private:
  enum State : int { kNotBegun, kRests, kRecords };
  static bool Is(State state) {
    return g_state.load(std::memory_order_relaxed) == state;
  }
  static std::atomic<int> g_state;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_SAMPLES_H_
