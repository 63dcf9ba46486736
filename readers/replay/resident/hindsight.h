// What a first reading of a run file finds out about earlier moments, for the
// readings after it.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_HINDSIGHT_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_HINDSIGHT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "readers/replay/library_waits/library_waits.h"

namespace pymemrun {

// Pages that came together with another page, as the kernel showed only later.
struct LateArrival {
  uint64_t time_us;     // when the other page came
  uint64_t with;        // the other page's number
  uint64_t begin, end;  // page numbers; the range includes `with`
};

// The time between two readings of RSS.
struct RssSpan {
  uint64_t from_us, to_us;
  uint64_t from_bytes, to_bytes;  // RSS at both times
};

// RSS grew by `bytes` between two events; the second one has the stack.
struct SeenGrowth {
  uint64_t from_us, to_us;
  uint64_t bytes;
  uint32_t stack, thread;
  uint64_t rss_bytes = 0;  // RSS at to_us; 0: unknown
  uint32_t waits = 0;      // see Origin
  uint32_t own = 0;        // the stack down to the own line, from these two
  bool imports = false;
  bool sure = true;  // the own line ran during all that time

  // The part that came within the span: by RSS if it is known, otherwise in
  // proportion to time.
  double BytesWithin(const RssSpan& span) const {
    const uint64_t begin_us = std::max(from_us, span.from_us);
    const uint64_t end_us = std::min(to_us, span.to_us);
    if (begin_us >= end_us) return 0;
    if (rss_bytes == 0) {
      return static_cast<double>(bytes) *
             static_cast<double>(end_us - begin_us) /
             static_cast<double>(to_us - from_us);
    }
    uint64_t low = rss_bytes - std::min(bytes, rss_bytes), high = rss_bytes;
    if (from_us < span.from_us) low = std::max(low, span.from_bytes);
    if (to_us > span.to_us) high = std::min(high, span.to_bytes);
    return high > low ? static_cast<double>(high - low) : 0;
  }
};

// Immutable once it was given to a reader.
struct Hindsight {
  // RSS never exceeded this before `until_us`, the time of the last reading.
  uint64_t most_rss_bytes = UINT64_MAX;
  uint64_t until_us = UINT64_MAX;
  // The highest RSS, by VmHWM. `peak_us` is then the likeliest moment of it.
  // 0: the model's own peak holds.
  uint64_t peak_rss_bytes = 0;
  uint64_t peak_us = 0;
  std::vector<LateArrival> late;              // by time
  std::shared_ptr<const LibraryWaits> waits;  // null: there are none
  // By time, where pages were scanned; null: unknown.
  std::shared_ptr<const std::vector<SeenGrowth>> growth;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_HINDSIGHT_H_
