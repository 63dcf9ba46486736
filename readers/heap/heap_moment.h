// A moment at which HeapMoments stops.
#ifndef PYMEMRUN_READERS_HEAP_HEAP_MOMENT_H_
#define PYMEMRUN_READERS_HEAP_HEAP_MOMENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "readers/library_waits/library_waits.h"

namespace pymemrun {

// The most live bytes, the run's last moment, so many microseconds since the
// start, or after so many heap events.
struct HeapMoment {
  enum Kind { kPeak, kEnd, kTime, kEvents };
  Kind kind = kPeak;
  uint64_t time_us = 0;  // kTime, kEvents
  uint64_t events = 0;   // kEvents
  // What people call it; empty: no more than a time.
  std::string name = {};
  // What the reading that found it tells of libraries' threads; or null.
  std::shared_ptr<const LibraryWaits> waits = {};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_HEAP_HEAP_MOMENT_H_
