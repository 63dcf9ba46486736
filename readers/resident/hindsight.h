// What a first reading of a run file tells of earlier moments: for the readings
// after it.
#ifndef PYMEMRUN_READERS_RESIDENT_HINDSIGHT_H_
#define PYMEMRUN_READERS_RESIDENT_HINDSIGHT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "readers/library_waits/library_waits.h"

namespace pymemrun {

// Pages that came together with another page, as the kernel showed only later.
struct LateArrival {
  uint64_t time_us;     // when the other came
  uint64_t with;        // the other
  uint64_t begin, end;  // of the pages, the other included
};

// RSS grew by so many bytes between two events, at the stack of the second.
struct SeenGrowth {
  uint64_t from_us, to_us;
  uint64_t bytes;
  uint32_t stack, thread;
  uint32_t waits = 0;  // see Origin
  uint32_t own = 0;    // of these two: the stack down to an own line
  bool imports = false;
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

#endif  // PYMEMRUN_READERS_RESIDENT_HINDSIGHT_H_
