// What both halves of the codec of HeapBatch know of the entries so far, and so
// guess of the next one. FORMAT.md has the rules.
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

// Which stack allocates next, and how much.

// A number that is likely to come after certain others. A slot holds the guess,
// 0 at first, and is to be given the true value. Keys are hashes without a
// check: two that are equal by chance share a slot.
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

// Of allocations. Constant size. Not thread safe.
class HeapContexts {
 public:
  void Reset() {
    stacks_.Reset(0);
    sizes_.Reset(0);
    large_.Reset(0);
    last_stacks_ = {};
    last_sizes_ = {};
  }

  // By the three stacks before.
  uint32_t& Stack() {
    return stacks_.At(last_stacks_[0], last_stacks_[1], last_stacks_[2]);
  }
  // By its stack and the two sizes before.
  uint64_t& Size(uint32_t stack) {
    return sizes_.At(stack, last_sizes_[0], last_sizes_[1]);
  }
  // The address that a block of such a size had, which is not from a pool.
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

// Which block is freed next.

// Blocks are often freed in the order of their allocations, or in another that
// comes again: so many allocations behind the block freed before. Constant
// size. Not thread safe.
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
  // As many allocations from the block freed last as after the three distances
  // before.
  uint64_t InOrder() {
    const auto step = static_cast<uint32_t>(Step());
    return order_[(freed_number_ + step) & (kOrder - 1)];
  }
  uint64_t Newest() const { return order_[(number_ - 1) & (kOrder - 1)]; }
  // One of the addresses freed last.
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

  // An address and when it was allocated.
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
  uint32_t freed_number_;  // of the block freed last, as far as it is known
  size_t lane_;
};

// Some 300 KiB, whatever is noted. Not thread safe.
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
  // Blocks of these two come from CPython's pools when they are small.
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
