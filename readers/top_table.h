// The table of `pymemreport top`.
#ifndef PYMEMRUN_READERS_TOP_TABLE_H_
#define PYMEMRUN_READERS_TOP_TABLE_H_

#include <cstdint>

#include "readers/call_profile.h"
#include "readers/table.h"

namespace pymemrun {

// The places, most growth first, at most `limit` of them (0: all), and below
// them what tracing itself costs: the resident memory of the tracer, 0 where it
// is not known. `share` is a place's part of the growth at all places; tracing
// itself has none. Functions are Python's, also where a C function that one of
// them called made the memory grow.
Table TopTable(const ProfileTable& profile, uint64_t limit, uint64_t own_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TOP_TABLE_H_
