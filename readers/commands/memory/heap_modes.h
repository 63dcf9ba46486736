// The modes of `pymemreport heap`: what is alive, what leaked, what changed.
// Each reads the run up to its moments, and has a table of its own.
#ifndef PYMEMRUN_READERS_COMMANDS_MEMORY_HEAP_MODES_H_
#define PYMEMRUN_READERS_COMMANDS_MEMORY_HEAP_MODES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/moments/moment.h"
#include "readers/report/run_reading.h"

namespace pymemrun {

enum class HeapReportMode {
  kLive,       // what is alive at a moment
  kReserved,   // what C code has mapped by then, touched or not
  kLeaks,      // what is alive when the program ends
  kTemporary,  // what was freed before its thread allocated much more
  kChange,     // from one moment to another
  kDiff,       // what another run has more or less at that moment
};

struct HeapAsked {
  HeapReportMode mode = HeapReportMode::kLive;
  GroupBy by = GroupBy::kLine;
  Moment at;
  std::optional<Moment> to;  // of kChange
  uint32_t temporary = 0;    // of kTemporary: freed before N allocations
  std::string compared;      // of kDiff: the other run's file
};

// What the run is to be read up to.
std::vector<Moment> MomentsOf(const HeapAsked& asked, RereadFile* file);

// Whether a block may be a leak: it is the program's. `interpreter` must
// outlive it.
HeapRowsMaker::Keep LeaksOnly(InterpreterStacks* interpreter);

// What a table has above it, and the table.
struct HeapShown {
  std::string heading;  // lines, each ended
  Table table;
};
// Shows a run that was read so. `limit`: of places; 0: all. Nothing: why has
// been said; the run has the exit code.
std::optional<HeapShown> ShowHeap(const HeapAsked& asked,
                                  const HeapMoments& replay,
                                  ThreadFilter* threads, uint64_t limit,
                                  bool for_text, RunReading* run);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_MEMORY_HEAP_MODES_H_
