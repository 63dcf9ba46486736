// Predictions of the next heap event, shared by both directions of the
// HeapBatch codec. FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_GUESSES_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_GUESSES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/batches/heap_pools.h"
#include "format/trace.pb.h"

namespace pymemrun {

// The bits of an entry of HeapBatch.op. FORMAT.md says what they mean.

inline constexpr uint8_t kHeapOpFree = 1;
// The stated address is in bytes, not in units of 16.
inline constexpr uint8_t kHeapOpBytes = 16;
// Allocations: which columns have a value. The upper bits are the allocator.
inline constexpr uint8_t kHeapOpAddress = 2;
inline constexpr uint8_t kHeapOpStack = 4;
inline constexpr uint8_t kHeapOpSize = 8;
inline constexpr int kHeapOpAllocatorShift = 5;
// Frees: HeapFreed. The upper bits are the lane that a stated address counts
// from.
inline constexpr int kHeapOpFreedShift = 1;
inline constexpr uint8_t kHeapOpFreedMask = 7;
inline constexpr int kHeapOpLaneShift = 5;

// How the freed block is given.
enum class HeapFreed : uint8_t {
  kInOrder = 0,  // HeapFreeOrder::InOrder()
  kNewest = 1,   // HeapFreeOrder::Newest()
  kStated = 2,
  // A range of addresses, stated with its size: memory mapped by C code was
  // unmapped or moved.
  kRange = 3,
  kMovedRange = 4,
};

// Predicts a value from up to three earlier ones (as in finite-context-method
// predictors). A slot holds the prediction, 0 at first; the caller replaces it
// by the true value. Keys are hashes without a check, so equal hashes share a
// slot.
template <class Value, int kBits>
class HeapContext {
 public:
  void Reset(Value first) { values_.fill(first); }
  Value& At(uint64_t first, uint64_t second, uint64_t third) {
    const uint64_t sum = first * 0x9E3779B97F4A7C15u +
                         second * 0xC2B2AE3D27D4EB4Fu +
                         third * 0x165667B19E3779F9u;
    return values_[sum >> (64 - kBits)];
  }

 private:
  std::array<Value, size_t{1} << kBits> values_;
};

// Predicts stacks and sizes of allocations. Constant size. Not thread-safe.
class HeapContexts {
 public:
  void Reset() {
    stacks_.Reset(0);
    sizes_.Reset(0);
    large_.Reset(0);
    last_stacks_ = {};
    last_sizes_ = {};
  }

  // From the last three stacks.
  uint32_t& Stack() {
    return stacks_.At(last_stacks_[0], last_stacks_[1], last_stacks_[2]);
  }
  // From the stack and the last two sizes.
  uint64_t& Size(uint32_t stack) {
    return sizes_.At(stack, last_sizes_[0], last_sizes_[1]);
  }
  // Last address of a block of this size that was not from a pool.
  uint64_t& Large(uint64_t size) { return large_.At(size, 0, 0); }
  void Note(uint32_t stack, uint64_t size) {
    last_stacks_ = {stack, last_stacks_[0], last_stacks_[1]};
    last_sizes_ = {size, last_sizes_[0]};
  }

 private:
  HeapContext<uint32_t, 12> stacks_;
  HeapContext<uint64_t, 12> sizes_;
  HeapContext<uint64_t, 8> large_;
  std::array<uint32_t, 3> last_stacks_;
  std::array<uint64_t, 2> last_sizes_;
};

// Predicts freed blocks. Blocks are often freed in the order of their
// allocation, or in another order that repeats. So the prediction is a
// distance, in allocations, from the block freed before. Constant size. Not
// thread-safe.
class HeapFreeOrder {
 public:
  static constexpr size_t kLanes = 8;

  void Reset() {
    known_.fill({});
    order_.fill(0);
    steps_.Reset(1);
    lanes_.fill(0);
    last_steps_ = {};
    number_ = freed_number_ = 0;
    lane_ = 0;
  }

  void NoteAllocated(uint64_t address) {
    known_[SlotOf(address)] = {TagOf(address), number_};
    order_[number_++ & (kOrder - 1)] = address;
  }
  // Predicts the distance that followed the last three distances.
  uint64_t InOrder() {
    const auto step = static_cast<uint32_t>(Step());
    return order_[(freed_number_ + step) & (kOrder - 1)];
  }
  uint64_t Newest() const { return order_[(number_ - 1) & (kOrder - 1)]; }
  // One of the last kLanes freed addresses.
  uint64_t Lane(size_t lane) const { return lanes_[lane]; }

  void NoteFreed(uint64_t address) {
    lanes_[lane_++ & (kLanes - 1)] = address;
    const Known known = known_[SlotOf(address)];
    if (known.tag != TagOf(address)) return;
    const auto step = static_cast<int32_t>(known.number - freed_number_);
    Step() = step;
    last_steps_ = {step, last_steps_[0], last_steps_[1]};
    freed_number_ = known.number;
  }

 private:
  static constexpr uint32_t kBlocks = 1 << 13;
  static constexpr uint32_t kOrder = 1 << 13;

  // An address and its allocation number.
  struct Known {
    uint32_t tag = 0;
    uint32_t number = 0;
  };

  static uint32_t TagOf(uint64_t address) {
    return static_cast<uint32_t>(address >> 4);
  }
  static size_t SlotOf(uint64_t address) {
    return (address >> 5 ^ address >> 20) & (kBlocks - 1);
  }
  int32_t& Step() {
    const auto at = [this](size_t i) {
      return static_cast<uint32_t>(last_steps_[i]);
    };
    return steps_.At(at(0), at(1), at(2));
  }

  std::array<Known, kBlocks> known_;
  std::array<uint64_t, kOrder> order_;  // addresses, by allocation number
  HeapContext<int32_t, 12> steps_;
  std::array<uint64_t, kLanes> lanes_;
  std::array<int32_t, 3> last_steps_;
  uint32_t number_;        // of the next allocation
  uint32_t freed_number_;  // of the last known freed block
  size_t lane_;
};

// Takes some 300 KiB. Not thread-safe.
struct HeapGuesses {
  HeapContexts contexts;
  HeapPools pools;
  HeapFreeOrder frees;
  std::array<uint64_t, HeapPools::kClasses> last_of;  // addresses, by class

  HeapGuesses() { Reset(); }
  void Reset() {
    contexts.Reset();
    pools.Reset();
    frees.Reset();
    last_of.fill(0);
  }
  // Small blocks of these two allocators come from pools of CPython.
  static uint32_t ClassOf(uint32_t allocator, uint64_t size) {
    return allocator <= HEAP_MEM ? HeapPools::ClassOf(size) : 0;
  }
  uint64_t Address(uint32_t size_class, uint64_t size) {
    return size_class != 0 ? pools.Next(size_class) : contexts.Large(size);
  }
  void NoteAllocated(uint64_t address, uint32_t size_class, uint64_t size) {
    last_of[size_class] = address;
    if (size_class != 0) {
      pools.Allocated(address, size_class);
    } else {
      contexts.Large(size) = address;
    }
    frees.NoteAllocated(address);
  }
  void NoteFreed(uint64_t address) {
    frees.NoteFreed(address);
    pools.Freed(address);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_GUESSES_H_
