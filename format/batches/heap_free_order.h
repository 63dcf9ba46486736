// Which block is freed next. Used by the codec of HeapBatch; FORMAT.md has the
// rules.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_FREE_ORDER_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_FREE_ORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "format/batches/heap_contexts.h"

namespace pymemrun {

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

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_FREE_ORDER_H_
