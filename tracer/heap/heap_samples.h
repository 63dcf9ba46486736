// What the hooks of --heap sampled do about an allocation, whoever made it.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_SAMPLES_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_SAMPLES_H_

#include <atomic>
#include <cstddef>

#include "tracer/heap/heap_log.h"
#include "tracer/heap/heap_rate_control.h"
#include "tracer/heap/heap_sampler.h"
#include "tracer/heap/sampled_blocks.h"

namespace pymemrun {

// Allocations of so many bytes are worth the session of a forked child.
inline constexpr size_t kWorthBytes = size_t{256} << 10;

// By bytes, and by classes of sizes: Charge() counts an allocation; where that
// is true, Take() says whether to record it. Where nothing is recorded
// Counted() says how many bytes were counted since the thread was put to rest.
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

  // Whether allocations are recorded; frees are from the first time on.
  void Record(bool on);
  bool records() const { return Is(kRecords); }
  bool has_begun() const { return !Is(kNotBegun); }

  // In a forked child that has no session yet: `call` is called once, within an
  // allocation, when it is worth one. Null: no more.
  void WaitForGrowth(void (*call)());
  // So many bytes were allocated without a session.
  void Unheard(size_t bytes) const;

  // Whether the allocation, which has been charged, is to be recorded.
  template <class By>
  bool Take(size_t size) const {
    if (SideRing::page() == nullptr) {  // a forked child, or tracing has ended
      HeapSampler::Rest();
      Unheard(By::Counted(size));
      return false;
    }
    return By::Take(sampler_, size) && records();
  }
  // Records it, if there is room.
  void Add(const HeapBlock& block);
  // The same of a mapping, which no free() will name.
  void AddMapping(const HeapBlock& mapping);

  // The block is about to be freed, and may have been recorded.
  void Goes(const void* block);
  // The same, without recording the free. Returns whether the block was
  // recorded.
  bool Remove(const void* block);
  // Its free failed, as that of a realloc may.
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
