// Writes tracks as Chrome's Trace Event JSON, for chrome://tracing, Firefox's
// profiler and Perfetto.
#ifndef PYMEMRUN_READERS_EXPORT_TRACES_CHROME_TRACE_H_
#define PYMEMRUN_READERS_EXPORT_TRACES_CHROME_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/output/output_buffer.h"
#include "readers/tracks/track_sink.h"

namespace pymemrun {

// Times are microseconds since the run's start. A slice is one event, written
// when it ends. If two slices start together, viewers take the first one
// written for the outer one. So a slice that starts together with its outer
// slice is held back until that was written. The output must outlive it. Not
// thread safe.
class ChromeTrace final : public TrackSink {
 public:
  explicit ChromeTrace(OutputBuffer* output)
      : output_(*output), names_(1), tracks_(1) {}

  void SetProcess(const Header& header) override;
  uint32_t AddThread(const TrackThread& thread) override;
  uint32_t AddLane(uint32_t thread_track, absl::string_view name) override;
  uint32_t AddCounter(absl::string_view name, CounterUnit unit) override;
  uint32_t AddName(const SliceName& name) override;
  void Begin(uint32_t track, uint64_t time_us, uint32_t name) override;
  void End(uint32_t track, uint64_t time_us, const SliceEnd& end) override;
  void Count(uint32_t counter, uint64_t time_us, int64_t value) override;
  void CountReal(uint32_t counter, uint64_t time_us, double value) override;
  void Instant(uint32_t track, uint64_t time_us,
               absl::string_view text) override;
  // To be called last.
  void Finish();

 private:
  // A slice that has not ended.
  struct Open {
    uint64_t time_us;
    uint32_t name;
    // Events of ended slices that started together with this open one, the
    // innermost first. Each slice has at most one such slice directly within
    // it.
    std::vector<std::string> waiting;
  };
  // A thread, a lane or a counter.
  struct Track {
    int64_t tid = 0;
    std::string name;    // as JSON: of threads and counters
    uint32_t order = 0;  // a thread's place; its lanes have the same
    std::vector<Open> open;
  };
  uint32_t AddTrack(int64_t tid, std::string name);
  // Prints the name of a thread or lane, and its place among the others.
  uint32_t AddNamedTrack(int64_t tid, std::string name, uint32_t order);
  // Appends an event, after a comma unless it is the first one.
  void Append(absl::string_view event);
  std::string Place(int64_t tid) const;

  OutputBuffer& output_;
  int32_t pid_ = 1;
  bool any_ = false;
  std::vector<std::string> names_;  // JSON: "name":…,"cat":…,"args":{…
  std::vector<Track> tracks_;       // by number, counters included
  absl::flat_hash_map<uint32_t, uint32_t> thread_tracks_;  // by thread
  uint32_t lanes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_TRACES_CHROME_TRACE_H_
