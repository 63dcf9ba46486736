// Which blocks alive were sampled, so that their frees are recorded and no
// others. Any thread, with or without the GIL: no lock, nothing allocates.
#ifndef PYMEMRUN_TRACER_SAMPLED_BLOCKS_H_
#define PYMEMRUN_TRACER_SAMPLED_BLOCKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pymemrun {

class SampledBlocks {
 public:
  // Makes and touches a table for about `capacity` blocks, a power of two, and
  // sees to it that forked children find all of it empty. Returns false with
  // errno set.
  static bool Create(uint32_t capacity);

  // False: the block was not sampled. One load; wrong for the neighbours of
  // those that were...
  static bool MayHold(const void* block) {
    return g_filter.pages[PageOf(block)].load(std::memory_order_relaxed) != 0;
  }
  // ...which this tells apart, nearly always.
  static bool IsLikely(const void* block) {
    return g_filter.blocks[HashOf(block)].load(std::memory_order_relaxed) != 0;
  }
  // Returns false where there is no room.
  static bool Add(const void* block);
  // Whether it was there.
  static bool Remove(const void* block);
  // Of the table, from 0 to 1.
  static double fill();

 private:
  static constexpr uint32_t kFilterPages = 1u << 16;
  // By address in pages of 4 KiB: how many sampled blocks there are. Neighbours
  // share cache lines, as their use does.
  // The same by a hash of the whole address.
  static constexpr uint32_t kFilterBlocks = 1u << 18;
  struct alignas(4096) Filter {
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
  static void Count(const void* block);
  static void Uncount(const void* block);

  static Filter g_filter;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SAMPLED_BLOCKS_H_
