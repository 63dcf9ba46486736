// What a first reading of a run file tells of earlier moments: for the readings
// after it.
#ifndef PYMEMRUN_READERS_RESIDENT_HINDSIGHT_H_
#define PYMEMRUN_READERS_RESIDENT_HINDSIGHT_H_

#include <cstdint>
#include <vector>

namespace pymemrun {

// Pages that came together with another one, as an answer of the kernel's
// showed only later.
struct LateArrival {
  uint64_t time_us;     // when the other came
  uint64_t with;        // the other
  uint64_t begin, end;  // it is one of these
};

struct Hindsight {
  // RSS was never above these bytes until then, when it was read last.
  uint64_t most_rss_bytes = UINT64_MAX;
  uint64_t until_us = UINT64_MAX;
  // By VmHWM, RSS was so high at some time, of which no more is known than that
  // this moment is the likeliest; 0: no more than is known otherwise.
  uint64_t peak_rss_bytes = 0;
  uint64_t peak_us = 0;
  std::vector<LateArrival> late;  // by time
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RESIDENT_HINDSIGHT_H_
