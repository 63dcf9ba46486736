// What the hooks of --heap sampled do at each allocation, of Python or C code.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_SAMPLES_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_SAMPLES_H_

#include <atomic>
#include <cstddef>

#include "tracer/heap/heap_log.h"
#include "tracer/heap/heap_rate_control.h"
#include "tracer/heap/heap_sampler.h"
#include "tracer/heap/sampled_blocks.h"

namespace pymemrun {

// A forked child gets a session once it has allocated this many bytes.
inline constexpr size_t kWorthBytes = size_t{256} << 10;

// Two ways of sampling: by bytes, and by classes of sizes. Charge() counts an
// allocation; if it returns true, Take() decides whether to record it. While
// nothing is recorded, Counted() returns the number of bytes counted since the
// thread was put to rest.
struct ByBytes {
  static size_t Counted(size_t) { return kWorthBytes; }
  static bool Charge(const HeapSampler&, size_t size) {
    return HeapSampler::ChargeBytes(size + (size == 0));
  }
  static bool Take(const HeapSampler& sampler, size_t) {
    return sampler.TakeBytes();
  }
};
struct ByClass {
  static size_t Counted(size_t size) { return size; }
  static bool Charge(const HeapSampler& sampler, size_t size) {
    return sampler.ChargeClass(size);
  }
  static bool Take(const HeapSampler& sampler, size_t size) {
    return sampler.TakeClass(size);
  }
};

// Any thread, with or without the GIL; nothing allocates.
class HeapSamples {
 public:
  constexpr HeapSamples(const HeapSampler& sampler, SampledBlocks& blocks,
                        HeapRateControl& control)
      : sampler_(sampler), blocks_(blocks), control_(control) {}

  // Switches recording of allocations on or off; frees are recorded from the
  // first time on.
  void Record(bool on);
  bool records() const { return Is(kRecords); }
  bool has_begun() const { return !Is(kNotBegun); }

  // In a forked child without a session: calls `call` once, inside an
  // allocation, when the child is worth a session. Null: never.
  void WaitForGrowth(void (*call)());
  // `bytes` were allocated without a session.
  void Unheard(size_t bytes) const;

  // Returns whether the charged allocation is recorded.
  template <class By>
  bool Take(size_t size) const {
    if (SideRing::page() == nullptr) {  // a forked child, or tracing has ended
      HeapSampler::Rest();
      Unheard(By::Counted(size));
      return false;
    }
    return By::Take(sampler_, size) && records();
  }
  // Records the allocation, if there is room.
  void Add(const HeapBlock& block);
  // The same for a mapping, which no free() will release.
  void AddMapping(const HeapBlock& mapping);

  // Call it before the free of a block that may have been recorded.
  void Goes(const void* block);
  // The same, without recording the free. Returns whether the block was
  // recorded.
  bool Remove(const void* block);
  // The free failed, for instance in a failed realloc.
  void PutBack(const void* block) { blocks_.Add(block); }

 private:
  enum State : int { kNotBegun, kRests, kRecords };
  bool Is(State state) const {
    return state_.load(std::memory_order_relaxed) == state;
  }

  const HeapSampler& sampler_;
  SampledBlocks& blocks_;
  HeapRateControl& control_;
  std::atomic<int> state_{kNotBegun};
  void (*grows_)() = nullptr;
  mutable std::atomic<size_t> unheard_{0};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_SAMPLES_H_
