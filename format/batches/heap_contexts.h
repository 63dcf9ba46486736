// Which stack allocates next, and how much. Used by the codec of HeapBatch;
// FORMAT.md has the rules.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_CONTEXTS_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_CONTEXTS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace pymemrun {

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

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_CONTEXTS_H_
