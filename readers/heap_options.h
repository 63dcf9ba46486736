// What the commands for heap events were asked for.
#ifndef PYMEMRUN_READERS_HEAP_OPTIONS_H_
#define PYMEMRUN_READERS_HEAP_OPTIONS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "readers/heap_places.h"

namespace pymemrun {

struct HeapOptions {
  enum class Export { kPprof, kCollapsed, kSpeedscope };

  HeapBy by = HeapBy::kLine;
  // The moment; two: the change between them.
  std::vector<HeapMoment> moments = {{}};
  bool leaks = false;
  bool reserved = false;   // what C code has mapped, instead of blocks
  uint32_t temporary = 0;  // freed before so many allocations; 0: all blocks
  bool diff = false;       // files[1] is compared with files[0]
  Export export_as = Export::kPprof;
  // kFlame:
  bool inverted = false;   // the frames that allocated first
  bool by_thread = false;  // a root for each thread
  // kHistory:
  uint64_t interval_us = 0;  // 0: to be chosen
  uint64_t from_us = 0;
  uint64_t to_us = std::numeric_limits<uint64_t>::max();
  uint64_t top = 10;  // places with a series of their own
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_OPTIONS_H_
