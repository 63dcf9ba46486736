// The set of live sampled blocks, so that only their frees are recorded. Any
// thread, with or without the GIL: no lock, nothing allocates.
#ifndef PYMEMRUN_TRACER_HEAP_SAMPLED_BLOCKS_H_
#define PYMEMRUN_TRACER_HEAP_SAMPLED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/own_page.h"

namespace pymemrun {

class SampledBlocks {
 public:
  // Makes and touches a table for about `capacity` blocks, a power of two.
  // Forked children inherit it, or, with `wiped`, find it empty. Returns false
  // with errno set on failure.
  bool Create(uint32_t capacity, bool wiped);

  // Returns false if the block was not sampled. One load; may be true for
  // neighbours of sampled blocks.
  bool MayHold(const void* block) const {
    return filter_.pages[PageOf(block)].load(std::memory_order_relaxed) != 0;
  }
  // The same with a second filter, which is nearly always right.
  bool IsLikely(const void* block) const {
    return filter_.blocks[HashOf(block)].load(std::memory_order_relaxed) != 0;
  }
  // Adds a block. Returns false if there is no room.
  bool Add(const void* block);
  // Removes a block. Returns whether it was in the set.
  bool Remove(const void* block);
  // Load of the table, from 0 to 1.
  double fill() const;
  const void* table() const { return places_; }

 private:
  static constexpr uint32_t kFilterPages = 1u << 16;
  // Counters of sampled blocks: by the 4 KiB page of the address, whose
  // neighbours share cache lines as they are used together; and by a hash of
  // the whole address.
  static constexpr uint32_t kFilterBlocks = 1u << 18;
  struct alignas(kOwnPage) Filter {
    std::atomic<uint8_t> pages[kFilterPages];
    std::atomic<uint8_t> blocks[kFilterBlocks];
  };

  static uint32_t PageOf(const void* block) {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(block) >> 12) &
           (kFilterPages - 1);
  }
  static uint32_t HashOf(const void* block) {
    return static_cast<uint32_t>(
        (reinterpret_cast<uintptr_t>(block) * 0x9E3779B97F4A7C15u) >> 46);
  }
  void Count(const void* block);
  void Uncount(const void* block);

  std::atomic<uintptr_t>& PlaceAt(uintptr_t block, uint32_t step) const;

  Filter filter_ = {};
  std::atomic<uintptr_t>* places_ = nullptr;
  uint32_t capacity_ = 0;
  std::atomic<uint32_t> used_{0};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_SAMPLED_BLOCKS_H_
