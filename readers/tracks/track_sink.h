// What takes the tracks of a timeline: a writer of traces for other tools, or
// the levels of detail of a picture. Sources give tracks, see track_source.h.
#ifndef PYMEMRUN_READERS_TRACKS_TRACK_SINK_H_
#define PYMEMRUN_READERS_TRACKS_TRACK_SINK_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// What a slice is of. Names are as the file has them: any bytes.
struct SliceName {
  enum Kind : uint8_t { kOwn, kLibrary, kC, kOther };
  Kind kind = kOther;
  absl::string_view name;
  absl::string_view file;  // empty: it stands in none
  uint32_t line = 0;
  // Of pictures, "#1a7f37"; empty: whichever is free.
  absl::string_view color;
  absl::string_view says;  // of legends: what is meant
  bool is_idle = false;    // the thread does nothing meanwhile
  // When in a slice it was so is not known, only for which share of it.
  bool by_share = false;
};

// What there is to say of a slice once it is over.
struct SliceEnd {
  int64_t growth_bytes = 0;  // what RSS changed by meanwhile
  bool is_cut = false;       // nobody saw its end
  // For how long it was interrupted meanwhile, nobody knows when.
  uint64_t let_go_us = 0;
  // Of time on a CPU that is mostly without the GIL: for how long it had it.
  uint64_t had_gil_us = 0;
  // Of what the scheduler counted: for how long a CPU ran it, and for how long
  // it wanted one.
  uint64_t ran_us = 0, wanted_cpu_us = 0;
  bool is_estimated = false;  // where it began is not known, only for how long
  // The part of its time that it counts for in a picture. The rest is that of
  // `rest_name`, whose sum alone is known; 0: of none.
  double share = 1;
  uint32_t rest_name = 0;
};

enum class CounterUnit { kBytes, kMicroseconds, kCount };

// A thread of the process; `id` is the same in all sources: its first
// definition's.
struct TrackThread {
  uint32_t id = 0;
  uint64_t native_id = 0;
  absl::string_view name;
};

// Tracks, counters and names have numbers from 1 on, given by the Add methods.
// Times are microseconds since the run's start. Of one track they do not fall,
// and its slices are properly nested. A Begin may come late: after those of
// other tracks, though not after an End of its own. Not thread safe.
class TrackSink {
 public:
  virtual ~TrackSink() = default;
  // Comes first.
  virtual void SetProcess(const Header& header) = 0;
  // The track of a thread; the same one for the same id.
  virtual uint32_t AddThread(const TrackThread& thread) = 0;
  // Whether anybody asks what this thread did, by its id. Names are chosen for
  // what such threads did.
  virtual bool Keeps(uint32_t thread) const { return true; }
  // A further track of slices beside a thread's own; 0: beside the process.
  virtual uint32_t AddLane(uint32_t thread_track, absl::string_view name) = 0;
  virtual uint32_t AddCounter(absl::string_view name, CounterUnit unit) = 0;
  virtual uint32_t AddName(const SliceName& name) = 0;

  virtual void Begin(uint32_t track, uint64_t time_us, uint32_t name) = 0;
  virtual void End(uint32_t track, uint64_t time_us, const SliceEnd& end) = 0;
  virtual void Count(uint32_t counter, uint64_t time_us, int64_t value) = 0;
  // The same of values that are no whole numbers.
  virtual void CountReal(uint32_t counter, uint64_t time_us, double value) = 0;
  // On a thread's track; 0: of the process.
  virtual void Instant(uint32_t track, uint64_t time_us,
                       absl::string_view text) = 0;
  // So many bytes came there and then. Traces say it by counters.
  virtual void Grow(uint32_t track, uint64_t time_us, uint32_t name,
                    double bytes) {}
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TRACKS_TRACK_SINK_H_
