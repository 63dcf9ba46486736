// What RSS consists of at one moment, and who holds each part of it.
//
// Pages tell what is resident, and whether it is part of a file, a stack or
// anonymous memory. Blocks tell who allocated what lies in anonymous memory. A
// recorded block stands for the resident part of as many blocks as its rate
// says. What lies in pools that C libraries keep is charged to who touched it,
// see FindPools(): how much of it is in use nobody knows. What blocks leave of
// anonymous memory is free memory that an allocator keeps, or was never
// recorded. Pages of files, and copies of them, are charged to who touched
// them.
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

// What one place holds.
struct PlaceHolding {
  // Of a line without a function: it may be of several.
  Place place;              // names live as long as the replays
  bool is_own = false;      // a line of the user's own code
  double bytes = 0;         // of the heap, and of files
  double variance = 0;      // of bytes, as samples tell
  double file_bytes = 0;    // of these
  double pool_bytes = 0;    // likewise, in pools that libraries keep
  double mapped_bytes = 0;  // likewise, in mappings of C code that are none
  std::string kept_by;      // the library that keeps most of that
  // Likewise, by libraries' threads while the line waited, as it seems.
  double waits_bytes = 0;
  // What the line called for most of it: a library's function. Empty: itself.
  std::string called;
  // The thread that did nearly all of it; empty: several, or it has no name.
  std::string thread;
  bool is_import = false;  // most of it came with modules that the line imports
};

// All in bytes. The parts add up to rss_bytes.
struct MemorySplit {
  double rss_bytes = 0;
  double python_bytes = 0;  // live blocks of CPython's allocators
  double native_bytes = 0;  // of C code, with what it has mapped
  double pool_bytes = 0;    // pools of libraries: in use or free
  double free_bytes = 0;    // the rest of anonymous memory
  double file_bytes = 0;    // code and data of files
  double copied_bytes = 0;  // private copies of their pages, made by writes
  double stack_bytes = 0;   // of threads
  double before_bytes = 0;  // what was there before tracing
  // Of a forked process: what came after the fork, before tracing.
  double since_fork_bytes = 0;
  double tracing_bytes = 0;       // tracing's own
  double unattributed_bytes = 0;  // may be below 0
  double heap_error_bytes = 0;    // one standard error of both heaps
  FreeMemory free;                // of free_bytes, where pages are known
  // What threads hold of blocks, or of what they touched; most bytes first.
  std::vector<std::pair<std::string, double>> threads;
  // Most bytes first.
  std::vector<PlaceHolding> places;
};

// REQUIRES: both are of one file and moment. `heap` may be null: then anonymous
// memory is charged to who touched it, and stands under free_bytes. Without
// page events the heap is known, and how much the kernel counts as pages of
// files. Where it does not say that, the rest is unattributed. `by`: what
// places are; of pages allocators are not known. What `threads` (null: all)
// does not keep is the place kOtherThreads.
MemorySplit SplitMemory(const ResidentReplay& pages, const HeapReplay* heap,
                        double rss_bytes, GroupBy by = GroupBy::kLine,
                        ThreadFilter* threads = nullptr);

// The user's own lines among what has live blocks, most bytes first.
std::vector<PlaceHolding> OwnHoldings(const HeapReplay& heap,
                                      const std::vector<HeapSums>& sums);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_MEMORY_SPLIT_H_
