// The receiver of a timeline's tracks: a writer of traces for other tools, or a
// picture. Sources add the tracks, see track_source.h.
#ifndef PYMEMRUN_READERS_TRACKS_TRACK_SINK_H_
#define PYMEMRUN_READERS_TRACKS_TRACK_SINK_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// What a slice shows. Names are as in the file: any bytes.
struct SliceName {
  enum Kind : uint8_t { kOwn, kLibrary, kC, kOther };
  Kind kind = kOther;
  absl::string_view name;
  absl::string_view file;  // empty: none
  uint32_t line = 0;
  // In pictures, "#1a7f37"; empty: any free colour.
  absl::string_view color;
  absl::string_view says;  // its meaning, for legends
  bool is_idle = false;    // the thread does nothing during it
  // Only the share of the slice is known, not when within it.
  bool by_share = false;
};

// What is known of a slice when it ends.
struct SliceEnd {
  int64_t growth_bytes = 0;  // change of RSS during it
  bool is_cut = false;       // its end was not recorded
  // Time for which it was interrupted; when is unknown.
  uint64_t let_go_us = 0;
  // The part with the GIL, of time on a CPU that is mostly without it.
  uint64_t had_gil_us = 0;
  // By the scheduler's count: the time for which a CPU ran the thread, and for
  // which it waited for one.
  uint64_t ran_us = 0, wanted_cpu_us = 0;
  bool is_estimated = false;  // only its length is known, not its start
  // The part of its time that counts in a picture. The rest belongs to
  // `rest_name`, whose sum alone is known; 0: to no name.
  double share = 1;
  uint32_t rest_name = 0;
};

enum class CounterUnit { kBytes, kMicroseconds, kCount };

// A thread of the process. `id` is that of its first definition, in all
// sources.
struct TrackThread {
  uint32_t id = 0;
  uint64_t native_id = 0;
  absl::string_view name;
};

// Receives tracks. Tracks, counters and names are numbered from 1 on by the Add
// methods. Times are microseconds since the run's start; on one track they
// never descend, and slices are properly nested. A Begin may come later than
// those of other tracks, but not after a later End of its own track. Not thread
// safe.
class TrackSink {
 public:
  virtual ~TrackSink() = default;
  // Called first.
  virtual void SetProcess(const Header& header) = 0;
  // Returns the track of a thread; equal ids have the same track.
  virtual uint32_t AddThread(const TrackThread& thread) = 0;
  // Whether the thread with this id is shown. Names are chosen by what such
  // threads did.
  virtual bool Keeps(uint32_t thread) const { return true; }
  // Adds a track of slices below a thread's own track; 0: below the process.
  virtual uint32_t AddLane(uint32_t thread_track, absl::string_view name) = 0;
  virtual uint32_t AddCounter(absl::string_view name, CounterUnit unit) = 0;
  virtual uint32_t AddName(const SliceName& name) = 0;

  virtual void Begin(uint32_t track, uint64_t time_us, uint32_t name) = 0;
  virtual void End(uint32_t track, uint64_t time_us, const SliceEnd& end) = 0;
  virtual void Count(uint32_t counter, uint64_t time_us, int64_t value) = 0;
  // The same for values that are not whole numbers.
  virtual void CountReal(uint32_t counter, uint64_t time_us, double value) = 0;
  // Adds an instant on a thread's track; 0: of the process.
  virtual void Instant(uint32_t track, uint64_t time_us,
                       absl::string_view text) = 0;
  // `bytes` were added there at that time. Traces show this by counters
  // instead.
  virtual void Grow(uint32_t track, uint64_t time_us, uint32_t name,
                    double bytes) {}
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TRACKS_TRACK_SINK_H_
