// The table of `pymemreport top`.
#ifndef PYMEMRUN_READERS_REPLAY_GROWTH_TOP_TABLE_H_
#define PYMEMRUN_READERS_REPLAY_GROWTH_TOP_TABLE_H_

#include <cstdint>

#include "readers/output/table.h"
#include "readers/replay/growth/profile_table.h"

namespace pymemrun {

// What tracing itself costs: bytes of memory at most, 0 where it is not known,
// and objects that it made the interpreter allocate (RunFacts::MadeObjects).
struct OwnCost {
  uint64_t bytes = 0;
  uint64_t frames_made = 0;
  uint64_t bound_made = 0;
  bool of_part = false;  // the table is of a part of the run: it is not told
};

// The places, most growth first, at most `limit` of them (0: all). Below them
// stand what threads did or saw that are not kept, and native ones. What RSS
// changed by in no logged row, or by no thread's doing, is next, unless it is
// 0. Then comes what tracing itself costs; a table
// with a function column also counts its objects. `share` is a part of the
// growth at all places, listed or not; the last two rows have no share.
// Functions are Python's: growth in a C function counts for the Python function
// that called it.
Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GROWTH_TOP_TABLE_H_
