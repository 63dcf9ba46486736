// Pauses of a free-threaded interpreter: one thread stops all others, for
// example to collect garbage. Used by GilReplay.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_WORLD_STOPS_H_
#define PYMEMRUN_READERS_REPLAY_GIL_WORLD_STOPS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/replay/gil/hold_history.h"

namespace pymemrun {

// The pauses that a thread made at a place.
struct StopSums {
  uint64_t stops = 0;
  // From the moment at which it asked, or the first thread stood still, until
  // the last went on.
  uint64_t paused_ns = 0, longest_ns = 0;
  uint64_t stood_ns = 0;  // for which others stood still, of all of them
};

// Threads by first ThreadDef.id. Memory is bounded by threads and places. Not
// thread safe.
class WorldStops {
 public:
  // Who stopped all, and where it let them go on, as far as that is known.
  using Key = std::pair<uint32_t, GilPlace>;

  // The thread asks all others to stop; when they have.
  void Ask(uint32_t thread, uint64_t time_ns);
  void Stopped(uint32_t thread, uint64_t time_ns);
  // Another one stood still because `by` had stopped all.
  void Stood(uint32_t by, uint64_t begin_ns, uint64_t end_ns,
             const GilPlace& place);
  // Nothing more comes.
  void Finish();

  // After Finish().
  const absl::flat_hash_map<Key, StopSums>& sums() const { return sums_; }
  const StopSums& all() const { return all_; }

 private:
  // The last pause that a thread made.
  struct Pause {
    uint64_t begin_ns = 0, end_ns = 0, stood_ns = 0;
    GilPlace place;
    bool any = false;  // it is not summed up yet
  };

  Pause& PauseOf(uint32_t thread, uint64_t begin_ns);
  void Close(uint32_t thread, Pause* pause);

  std::vector<Pause> pauses_;  // by thread
  absl::flat_hash_map<Key, StopSums> sums_;
  StopSums all_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_WORLD_STOPS_H_
