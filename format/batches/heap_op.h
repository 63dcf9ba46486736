// The bits of an entry of HeapBatch.op. FORMAT.md says what they mean.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_OP_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_OP_H_

#include <cstdint>

namespace pymemrun {

inline constexpr uint8_t kHeapOpFree = 1;
// A stated address counts in bytes, not in units of 16.
inline constexpr uint8_t kHeapOpBytes = 16;
// Of allocations: what is stated; the bits above are the allocator.
inline constexpr uint8_t kHeapOpAddress = 2;
inline constexpr uint8_t kHeapOpStack = 4;
inline constexpr uint8_t kHeapOpSize = 8;
inline constexpr int kHeapOpAllocatorShift = 5;
// Of frees: HeapFreed; the bits above are the lane that a stated address counts
// from.
inline constexpr int kHeapOpFreedShift = 1;
inline constexpr uint8_t kHeapOpFreedMask = 7;
inline constexpr int kHeapOpLaneShift = 5;

// Which block is freed.
enum class HeapFreed : uint8_t {
  kInOrder = 0,  // HeapFreeOrder::InOrder()
  kNewest = 1,   // the one allocated last
  kStated = 2,
  // No block, but a range of addresses, stated with its size: what C code had
  // mapped there goes, or moves.
  kRange = 3,
  kMovedRange = 4,
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_OP_H_
