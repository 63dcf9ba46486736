// Where the free memory of a moment lies, and which lines' blocks keep it.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_FREE_MEMORY_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_FREE_MEMORY_H_

#include <vector>

#include "readers/places/place.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// Where free memory lies, as far as addresses tell, and the user's lines with
// the most live blocks between.
struct FreeMemory {
  double malloc_bytes = 0;        // in malloc's main heap
  double other_bytes = 0;         // in arenas
  bool in_python_arenas = false;  // most of other_bytes; else threads' malloc's
  std::vector<Place> malloc_pins, other_pins;  // most blocks first, at most two
};

// `free_bytes`: how much is free. What malloc's main heap has beyond its live
// blocks is free there; the rest is in arenas. REQUIRES: both are of one file
// and moment, and the run has page events.
FreeMemory FindFreeMemory(const ResidentReplay& pages, const HeapReplay& heap,
                          double free_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_FREE_MEMORY_H_
