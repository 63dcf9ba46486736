// Which blocks alive were sampled, so that their frees are recorded and no
// others. Any thread, with or without the GIL: no lock, nothing allocates.
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
  // Forked children find it as it is, or, with `wiped`, empty. Returns false
  // with errno set.
  bool Create(uint32_t capacity, bool wiped);

  // False: the block was not sampled. One load; wrong for the neighbours of
  // those that were...
  bool MayHold(const void* block) const {
    return filter_.pages[PageOf(block)].load(std::memory_order_relaxed) != 0;
  }
  // ...which this tells apart, nearly always.
  bool IsLikely(const void* block) const {
    return filter_.blocks[HashOf(block)].load(std::memory_order_relaxed) != 0;
  }
  // Returns false where there is no room.
  bool Add(const void* block);
  // Whether it was there.
  bool Remove(const void* block);
  // Of the table, from 0 to 1.
  double fill() const;
  const void* table() const { return places_; }

 private:
  static constexpr uint32_t kFilterPages = 1u << 16;
  // By address in pages of 4 KiB: how many sampled blocks there are. Neighbours
  // share cache lines, as their use does.
  // The same by a hash of the whole address.
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
