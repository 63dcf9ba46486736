// Which of some heap events are blocks that come and go among them: of most
// programs nearly all.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_HEAP_PAIRS_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_HEAP_PAIRS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// 64 KiB, which stay in the processor's cache. Not thread safe.
class HeapPairs {
 public:
  // The events that are in no pair, in their order; valid until the next call.
  // Of an address that is allocated twice without a free none is left out. What
  // was alive there before, whose free was lost, stays alive.
  const std::vector<HeapEvent>& LeaveOut(const HeapEvent* events,
                                         size_t count) {
    ++call_;
    gone_.assign(count, 0);
    for (size_t i = 0; i < count; ++i) See(events[i], i);
    left_.clear();
    for (size_t i = 0; i < count; ++i) {
      if (gone_[i] == 0) left_.push_back(events[i]);
    }
    return left_;
  }

 private:
  // The last allocation at an address that falls there.
  struct Slot {
    uint64_t address;
    uint32_t number, call;
  };
  static constexpr int kBits = 12;

  void See(const HeapEvent& event, size_t number) {
    if (event.free_of != HeapFreeOf::kBlock || event.allocator >= HEAP_MMAP) {
      return;
    }
    Slot& slot = slots_[event.address * 0x9E3779B97F4A7C15u >> (64 - kBits)];
    const bool is_same = slot.call == call_ && slot.address == event.address;
    if (event.is_free) {
      if (!is_same) return;
      gone_[slot.number] = gone_[number] = 1;
      slot.call = 0;
    } else if (is_same) {
      slot.call = 0;
    } else {
      slot = {event.address, static_cast<uint32_t>(number), call_};
    }
  }

  std::array<Slot, size_t{1} << kBits> slots_ = {};
  uint32_t call_ = 0;
  std::vector<uint8_t> gone_;
  std::vector<HeapEvent> left_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_HEAP_PAIRS_H_
