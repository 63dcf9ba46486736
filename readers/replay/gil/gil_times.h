// The times that GilReplay sums up: of a wait, a thread, a GIL; and what it
// knows of a thread at a moment.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_GIL_TIMES_H_
#define PYMEMRUN_READERS_REPLAY_GIL_GIL_TIMES_H_

#include <algorithm>
#include <cstdint>

#include "readers/replay/gil/hold_history.h"

namespace pymemrun {

enum class GilWaitKind {
  kGil,
  kGivesWay,  // it has let go, and waits until another has taken the GIL
  kLock,      // of a free-threaded interpreter
  kStop,      // all threads but one stand still, or are to
};

// One wait of a thread's, and the hold that took most of it; of a lock, or
// where all were stopped, who ended it.
struct GilWait {
  GilWaitKind kind = GilWaitKind::kGil;
  uint32_t thread = 0;
  uint64_t begin_ns = 0, wait_ns = 0;
  uint32_t holder = 0;  // 0: no thread held it
  GilPlace holder_place;
  uint32_t stack = 0;  // the waiter's
};

// What a thread did, by its first ThreadDef.id.
struct GilThreadTimes {
  uint64_t first_ns = 0, last_ns = 0;  // of its events
  bool any = false, ended = false;
  // It waited for the GIL and for locks.
  uint64_t held_ns = 0, waited_ns = 0;
  uint64_t takes = 0, waits = 0;
  // It stood still as all did, or waited until all others stood still.
  uint64_t stopped_ns = 0;
  GilWait longest;

  // From its first event to its end, or to the run's.
  uint64_t TotalNs(uint64_t end_ns) const {
    const uint64_t end = ended ? last_ns : std::max(end_ns, last_ns);
    return std::max(end - first_ns, held_ns + waited_ns + stopped_ns);
  }
  uint64_t WithoutNs(uint64_t end_ns) const {
    return TotalNs(end_ns) - held_ns - waited_ns - stopped_ns;
  }
};

// What a thread does now.
struct GilDoing {
  bool waits = false, gives_way = false;
  uint32_t gil = 0;
  uint64_t since_ns = 0;
  uint64_t paused_ns = 0;  // of the hold then
  uint64_t first_ns = 0;   // it has been kept since, giving way before
  uint64_t gave_ns = 0;    // it gave way until then, and did no more; 0: no
};

// Where a thread let others go on.
struct GilLetGo {
  GilPlace place;
  uint64_t time_ns = 0;
};

// What was done with one GIL.
struct GilTimes {
  uint32_t number = 0;    // 1 + that of its interpreter
  uint64_t first_ns = 0;  // of its events
  uint64_t held_ns = 0, waited_ns = 0;
  uint64_t threads = 0;  // that took it
  uint64_t takes = 0, waits = 0;
  uint64_t longest_ns = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_GIL_TIMES_H_
