// What comes next in a HeapBatch, guessed from what came before in it. Used by
// both halves of the codec, which must guess alike; FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_HEAP_PREDICTOR_H_
#define PYMEMRUN_FORMAT_HEAP_PREDICTOR_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/heap_pools.h"

namespace pymemrun {

// The bits of an entry of HeapBatch.op.
inline constexpr uint8_t kHeapOpFree = 1;
// A stated address counts in bytes, not in units of 16.
inline constexpr uint8_t kHeapOpBytes = 16;
// Of allocations: what is stated; the bits above are the allocator.
inline constexpr uint8_t kHeapOpAddress = 2;
inline constexpr uint8_t kHeapOpStack = 4;
inline constexpr uint8_t kHeapOpSize = 8;
inline constexpr int kHeapOpAllocatorShift = 5;
// Of frees: FreeGuess; the bits above are the lane that a stated address counts
// from.
inline constexpr int kHeapOpGuessShift = 1;
inline constexpr uint8_t kHeapOpGuessMask = 7;
inline constexpr int kHeapOpLaneShift = 5;

// Which block is freed.
enum class FreeGuess : uint8_t {
  kInOrder = 0,     // in the order of the allocations as far from the last one
                    // as it was after the same three such distances
  kInOrderOne = 1,  // the same, after the same one distance
  kAsBefore = 2,    // the one that was freed next when the last one was before
  kNewest = 3,      // the one that was allocated last
  kStated = 4,
};

// Constant size. Not thread safe.
class HeapPredictor {
 public:
  static constexpr size_t kLanes = 8;

  HeapPredictor() { Reset(); }
  void Reset();

  // Of an allocation, in this order. A slot holds the guess, and is to be given
  // the true value.
  uint32_t* Stack() { return &stacks_[stack_key_]; }
  void NoteStack(uint32_t stack);
  uint64_t* Size() { return &sizes_[size_key_]; }
  void NoteSize(uint64_t size);
  // From a pool or not.
  uint64_t Block(uint32_t size_class, uint64_t size) const {
    return size_class != 0 ? pools_.Next(size_class) : big_[BigKey(size)];
  }
  // From which a stated address counts.
  uint64_t LastOf(uint32_t size_class) const { return last_of_[size_class]; }
  void NoteAllocated(uint64_t address, uint32_t size_class, uint64_t size);

  // Of a free.
  uint64_t Freed(FreeGuess guess) const;
  uint64_t Lane(size_t lane) const { return lanes_[lane]; }
  void NoteFreed(uint64_t address);

 private:
  static constexpr uint32_t kBlocks = 1 << 15;
  static constexpr uint32_t kOrder = 1 << 15;
  static constexpr int kContextBits = 13;
  static constexpr size_t kContexts = size_t{1} << kContextBits;
  static constexpr size_t kBigSizes = 256;

  // What is known of an address.
  struct Known {
    uint32_t tag = 0;
    uint32_t number = 0;      // of its last allocation in the batch
    uint32_t freed_next = 0;  // tag of what was freed after it
  };

  static uint32_t TagOf(uint64_t address) {
    return static_cast<uint32_t>(address >> 4);
  }
  static size_t SlotOf(uint64_t address) {
    return (address >> 5 ^ address >> 20) & (kBlocks - 1);
  }
  static size_t BigKey(uint64_t size) {
    return (size ^ size >> 8) & (kBigSizes - 1);
  }
  static uint32_t KeyOf(uint64_t context) {
    return static_cast<uint32_t>(context * 0x9E3779B97F4A7C15u >>
                                 (64 - kContextBits));
  }
  Known* Claim(uint64_t address);
  uint64_t InOrder(int32_t step) const {
    return order_[(freed_number_ + static_cast<uint32_t>(step)) & (kOrder - 1)];
  }

  HeapPools pools_;
  std::array<Known, kBlocks> known_;
  std::array<uint64_t, kOrder> order_;  // addresses, by allocation number
  std::array<uint32_t, kContexts> stacks_;
  std::array<uint64_t, kContexts> sizes_;
  std::array<int32_t, kContexts> steps_;
  std::array<int32_t, kContexts> single_steps_;
  std::array<uint64_t, kBigSizes> big_;
  std::array<uint64_t, HeapPools::kClasses> last_of_;
  std::array<uint64_t, kLanes> lanes_;

  std::array<uint32_t, 3> last_stacks_;
  std::array<uint64_t, 2> last_sizes_;
  std::array<int32_t, 3> last_steps_;
  uint32_t stack_key_, size_key_, steps_key_, single_key_;
  uint32_t number_;        // of the next allocation
  uint32_t freed_number_;  // of the block freed last
  uint64_t freed_;         // its address
  uint32_t freed_next_;    // what was freed after it before
  size_t lane_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_HEAP_PREDICTOR_H_
