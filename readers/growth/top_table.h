// The table of `pymemreport top`.
#ifndef PYMEMRUN_READERS_GROWTH_TOP_TABLE_H_
#define PYMEMRUN_READERS_GROWTH_TOP_TABLE_H_

#include <cstdint>

#include "readers/growth/call_profile.h"
#include "readers/output/table.h"

namespace pymemrun {

// What tracing itself costs: bytes of memory at most, 0 where it is not known,
// and objects that it made the interpreter allocate (RunFacts::MadeObjects).
struct OwnCost {
  uint64_t bytes = 0;
  uint64_t frames_made = 0;
  uint64_t bound_made = 0;
};

// The places, most growth first, at most `limit` of them (0: all). Below them,
// unless it is 0, what RSS changed by in no logged row, and what tracing itself
// costs, where a table with a function column also says how many objects.
// `share` is a place's part of the growth at all places, listed or not; those
// two have none. Functions are Python's, also where a C function that
// one of them called made the memory grow.
Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_GROWTH_TOP_TABLE_H_
