// The tables of `pymemreport gil`.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_GIL_TABLES_H_
#define PYMEMRUN_READERS_REPLAY_GIL_GIL_TABLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/gil/gil_replay.h"

namespace pymemrun {

// What a table has a row for.
enum class GilRows {
  kThreads,   // each thread
  kBlockers,  // each pair of a waiter and whom it waited for
  kWaits,     // each of the longest waits
  kPlaces,    // each line that held the GIL while others waited
  kGils,      // each GIL, of an interpreter of its own
  kStops,     // each place at which a thread stopped all others
};

// At most `limit` rows (0: all), the largest first; the replay has finished.
// For text shares come first, and what does not fit 80 columns is left out.
Table GilTable(GilRows rows, const GilReplay& replay, ThreadFilter* keep,
               uint64_t limit, TableFormat format);
// Who waited for whom, in seconds: threads by their numbers in a square.
Table GilMatrix(const GilReplay& replay, ThreadFilter* keep);

// The threads that are kept: those that waited longest first.
std::vector<uint32_t> GilThreadsOf(const GilReplay& replay, ThreadFilter* keep);

// "json.loads at /app.py:31": what a thread did where it held the GIL. The line
// is the user's own, the function what that line called.
std::string GilPlaceText(const GilReplay& replay, const GilPlace& place);
// The name of a holder, see GilReplay::Pair; may be "<handing over>".
std::string GilHolderName(const GilReplay& replay, uint32_t holder);
// What the own line called, or the C function; empty: it held it by itself.
std::string GilCallText(const GilReplay& replay, const GilPlace& place);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_GIL_TABLES_H_
