// A moment at which HeapMoments stops.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MOMENT_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MOMENT_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "readers/replay/library_waits/library_waits.h"

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

// What is to be done at moments of a reading. Not thread safe.
class MomentLooks {
 public:
  void Add(uint64_t time_us, std::function<void()> look) {
    looks_.push_back({time_us, std::move(look)});
    std::stable_sort(
        looks_.begin(), looks_.end(),
        [](const Look& a, const Look& b) { return a.time_us > b.time_us; });
  }
  bool empty() const { return looks_.empty(); }
  // When the next one is; of none the greatest number.
  uint64_t next_us() const {
    return empty() ? std::numeric_limits<uint64_t>::max()
                   : looks_.back().time_us;
  }
  // Does all up to that moment.
  void DoUntil(uint64_t time_us) {
    for (; !empty() && next_us() <= time_us; looks_.pop_back()) {
      looks_.back().look();
    }
  }

 private:
  struct Look {
    uint64_t time_us;
    std::function<void()> look;
  };
  std::vector<Look> looks_;  // the next one last
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_MOMENT_H_
