// Writes tracks as a Perfetto trace: TracePackets with TrackEvents.
#ifndef PYMEMRUN_READERS_EXPORT_TRACES_PERFETTO_TRACE_H_
#define PYMEMRUN_READERS_EXPORT_TRACES_PERFETTO_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/output/output_buffer.h"
#include "readers/tracks/track_sink.h"

namespace pymemrun::track_events {
class Packet;
class InternedData;
}  // namespace pymemrun::track_events

namespace pymemrun {

// Times are nanoseconds since the run's start, on a clock of the trace: what
// Perfetto calls BOOTTIME starts at 0. The first packet relates it to the time
// of day. Writes as events come, and keeps a few bytes for each track and name.
// The output must outlive it. Not thread safe.
class PerfettoTrace final : public TrackSink {
 public:
  explicit PerfettoTrace(OutputBuffer* output);
  ~PerfettoTrace() override;

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

  int32_t pid() const { return pid_; }

 private:
  struct Name {
    uint64_t category = 0, location = 0;  // 0: none
  };
  uint32_t AddTrack(track_events::Packet* packet, absl::string_view name,
                    uint64_t parent);
  void SetTime(uint64_t time_us);
  // Writes `packet_`, and clears it.
  void Write();

  OutputBuffer& output_;
  int32_t pid_ = 1;
  uint32_t tracks_ = 0;
  bool is_first_ = true;
  absl::flat_hash_map<uint32_t, uint32_t> thread_tracks_;    // by thread
  absl::flat_hash_map<uint32_t, std::string> thread_names_;  // by track
  std::vector<Name> names_;                                  // by number
  // Reused: creating one for each event would double the time.
  std::unique_ptr<track_events::Packet> packet_;
  // What the next packet has to define.
  std::unique_ptr<track_events::InternedData> pending_;
  bool has_pending_ = false;
  std::string bytes_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_EXPORT_TRACES_PERFETTO_TRACE_H_
