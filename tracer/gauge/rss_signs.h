// Signs that RSS may have changed, tested by the hooks at each event.
#ifndef PYMEMRUN_TRACER_GAUGE_RSS_SIGNS_H_
#define PYMEMRUN_TRACER_GAUGE_RSS_SIGNS_H_

#include <cstdint>

#include "tracer/base/hot_state.h"

namespace pymemrun {

inline uint64_t SumOfHeads(const HotState& hot) {
  uint64_t sum = *hot.heads[0] + *hot.heads[1];
  for (uint32_t i = 2; __builtin_expect(i < hot.head_count, 0); ++i) {
    sum += *hot.heads[i];
  }
  return sum;
}

// Most counters read at each event. Each head is at the same offset in its
// page, so all are in the same set of the first-level cache, which has no more
// ways.
inline constexpr uint32_t kMostHeadsRead = 8;

// With more counters: whether the thread has changed its CPU since the last
// check, the counter of this CPU has moved, or one of the others, which are
// tested in turn by time.
inline uint64_t SomeHeadMoved(const HotState& hot, uint64_t stamp) {
  constexpr int kTurnBits = 12;  // 4,096 units of time, a few microseconds
  const uint64_t turn = stamp & ((1 << kTurnBits) - 1);
  const uint64_t other = turn * hot.head_count >> kTurnBits;
  const uint32_t cpu = *reinterpret_cast<const volatile uint32_t*>(
      static_cast<const char*>(__builtin_thread_pointer()) + hot.cpu_offset);
  return (*hot.own_head ^ hot.own_head_seen) |
         (*hot.heads[other] ^ hot.heads_seen[other]) | (cpu ^ hot.seen_cpu);
}

// Not 0 if a counter has moved.
inline uint64_t HeadsMoved(const HotState& hot, uint64_t stamp) {
  uint64_t sum = *hot.heads[0] + *hot.heads[1];
  if (__builtin_expect(hot.head_count > 2, 0)) {
    if (hot.cpu_offset != 0) return SomeHeadMoved(hot, stamp);
    sum = SumOfHeads(hot);
  }
  return sum ^ hot.heads_sum;
}

// The fast half: whether a sign moved. Takes about 1 ns: all values are in the
// cache of this thread, except the heads, which change only with a fault.
inline bool RssMayHaveMoved(const HotState& hot, uint64_t stamp) {
  const uint64_t moved =
      HeadsMoved(hot, stamp) |
      static_cast<uint64_t>(hot.unmaps.load(std::memory_order_relaxed) ^
                            hot.unmaps_seen) |
      (reinterpret_cast<uintptr_t>(*hot.brk_word) ^
       reinterpret_cast<uintptr_t>(hot.brk_seen));
  return (moved != 0) | (stamp >= hot.deadline);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_RSS_SIGNS_H_
