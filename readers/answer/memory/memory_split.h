// What RSS consists of at one moment, and who holds each part.
//
// Pages show what is resident, and whether it belongs to a file, a stack or
// anonymous memory. Blocks show who allocated anonymous memory: a recorded
// block stands for several like it, by its rate; of each the resident part
// counts. Pools of C libraries are charged to the code that touched them, see
// FindPools(); how much of a pool is in use is unknown. The rest of anonymous
// memory is free memory that an allocator keeps, or was not recorded. Pages of
// files, and copies of them, are charged to the code that touched them.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_MEMORY_SPLIT_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_MEMORY_SPLIT_H_

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "readers/answer/memory/free_memory.h"
#include "readers/places/place_table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// The memory of one place.
struct PlaceHolding {
  // Without a function if the line is part of several.
  Place place;              // names live as long as the replays
  bool is_own = false;      // a line of the user's own code
  double bytes = 0;         // heap and files
  double variance = 0;      // of bytes, from samples
  double file_bytes = 0;    // part of `bytes`
  double pool_bytes = 0;    // likewise, in pools of libraries
  double mapped_bytes = 0;  // likewise, in other mappings of C code
  std::string kept_by;      // the library with most of pool_bytes
  // Likewise, by library threads for which the line seems to have waited.
  double waits_bytes = 0;
  // The library function that the line called for most of it. Empty: none.
  std::string called;
  // The thread that did nearly all of it; empty: several, or without a name.
  std::string thread;
  bool is_import = false;  // most of it came with modules imported there
};

// In bytes. The parts add up to rss_bytes.
struct MemorySplit {
  double rss_bytes = 0;
  double python_bytes = 0;  // live blocks of CPython's allocators
  double native_bytes = 0;  // live blocks of C code, with its mappings
  double pool_bytes = 0;    // pools of libraries, in use or free
  double free_bytes = 0;    // the rest of anonymous memory
  double file_bytes = 0;    // code and data of files
  double copied_bytes = 0;  // private copies of file pages, made by writes
  double stack_bytes = 0;   // stacks of threads
  double before_bytes = 0;  // from before tracing
  // In a forked process: between the fork and the start of tracing.
  double since_fork_bytes = 0;
  double tracing_bytes = 0;       // tracing's own memory
  double unattributed_bytes = 0;  // may be negative
  double heap_error_bytes = 0;    // one standard error of both heaps
  FreeMemory free;  // the free_bytes in detail, if pages are known
  // Blocks that threads allocated, or pages they touched; most bytes first.
  std::vector<std::pair<std::string, double>> threads;
  // Most bytes first.
  std::vector<PlaceHolding> places;
};

// REQUIRES: both replays are of one file and moment. `heap` may be null:
// anonymous memory is then charged to the code that touched it, and counted as
// free_bytes. Without page events only the heap is known, and the kernel's
// count of file pages, if it was read; the rest is unattributed. `by`: the kind
// of place. With kAllocator the place of pages has no name: who allocated them
// is unknown. Threads that `threads` (null: all) leaves out are the place
// kOtherThreads.
MemorySplit SplitMemory(const ResidentReplay& pages, const HeapReplay* heap,
                        double rss_bytes, GroupBy by = GroupBy::kLine,
                        ThreadFilter* threads = nullptr);

// The own lines with live blocks, most bytes first.
std::vector<PlaceHolding> OwnHoldings(const HeapReplay& heap,
                                      const std::vector<HeapSums>& sums);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_MEMORY_SPLIT_H_
