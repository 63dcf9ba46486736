// What a first reading of a run file tells of earlier moments: for the readings
// after it.
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
  uint64_t time_us;     // when the other came
  uint64_t with;        // the other
  uint64_t begin, end;  // of the pages, the other included
};

// From one look at RSS to another.
struct RssSpan {
  uint64_t from_us, to_us;
  uint64_t from_bytes, to_bytes;  // of RSS
};

// RSS grew by so many bytes between two events, at the stack of the second.
struct SeenGrowth {
  uint64_t from_us, to_us;
  uint64_t bytes;
  uint32_t stack, thread;
  uint64_t rss_bytes = 0;  // then, at to_us; 0: it is not known
  uint32_t waits = 0;      // see Origin
  uint32_t own = 0;        // of these two: the stack down to an own line
  bool imports = false;
  bool sure = true;  // of the own line: it was in a call all that time

  // As much of it as came within the span: as RSS tells, or else by time.
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

struct Hindsight {
  // RSS was never above these bytes until `until_us`, when it was read last.
  uint64_t most_rss_bytes = UINT64_MAX;
  uint64_t until_us = UINT64_MAX;
  // The highest RSS, as VmHWM tells it, too: `peak_us` may be only the
  // likeliest moment. 0: this moment is as the model has it.
  uint64_t peak_rss_bytes = 0;
  uint64_t peak_us = 0;
  std::vector<LateArrival> late;              // by time
  std::shared_ptr<const LibraryWaits> waits;  // null: there are none
  // By time, where pages were scanned; null: it is not known.
  std::shared_ptr<const std::vector<SeenGrowth>> growth;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_HINDSIGHT_H_
