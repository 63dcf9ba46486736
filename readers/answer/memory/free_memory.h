// Where free memory is at a moment, and which lines' blocks keep it.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_FREE_MEMORY_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_FREE_MEMORY_H_

#include <vector>

#include "readers/places/place.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// The free memory, by allocator, and the own lines with the most live blocks
// between free parts.
struct FreeMemory {
  double malloc_bytes = 0;  // in malloc's main heap
  double other_bytes = 0;   // in arenas
  // Most of other_bytes; false: arenas of malloc.
  bool in_python_arenas = false;
  std::vector<Place> malloc_pins, other_pins;  // most blocks first, at most two
};

// `free_bytes`: all free memory. What malloc's main heap has beyond its live
// blocks is free memory there; the rest is in arenas. REQUIRES: both replays
// are of one file and moment, and the run has page events.
FreeMemory FindFreeMemory(const ResidentReplay& pages, const HeapReplay& heap,
                          double free_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_FREE_MEMORY_H_
