// What the collector reads of the traced process in /proc, as records.
#ifndef PYMEMRUN_COLLECTOR_SESSION_PROCESS_SAMPLER_H_
#define PYMEMRUN_COLLECTOR_SESSION_PROCESS_SAMPLER_H_

#include <sys/types.h>

#include <cstdint>

#include "collector/events/event_encoder.h"
#include "collector/output/run_writer.h"
#include "collector/process/clock_scale.h"
#include "collector/process/counter_meter.h"
#include "collector/process/launch_text.h"
#include "collector/process/process_stats.h"
#include "collector/process/pss_meter.h"
#include "collector/side/side_items.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Not thread safe. Times are CLOCK_MONOTONIC.
class ProcessSampler {
 public:
  // All must outlive it.
  struct Parts {
    const ControlPage* page;
    pid_t pid;
    uint32_t page_bytes;
    const LaunchText* launch;
    const ClockScale* clock;
    EventEncoder* encoder;
    RunWriter* writer;
    SideItems* side;
  };
  explicit ProcessSampler(const Parts& parts)
      : in_(parts),
        stats_(parts.pid),
        pss_(parts.pid),
        counters_(parts.launch->counters_every_ms, parts.pid, &pss_) {}

  // Writes a sample where something has changed, or the counters' one; not of a
  // later time than `latest_ns`. Returns false where it is worth to try again
  // soon.
  bool Sample(uint64_t latest_ns, bool with_counters = false);
  // What is due at this time: counters, and RSS and PSS where they have moved.
  void Follow(uint64_t now_ns);
  // When the program's own code has ended: RSS as the program read it then.
  void WriteFinalizeRss();
  // The process became another program: the same, of that moment.
  void WriteExecRss(uint64_t time_ns);
  // The process ended without a word: RSS as it was when it was read last.
  void WriteLastLook();
  // The record that says that there are counters, and what was refused. Nothing
  // where there are none.
  void WriteCounterPlan();

  bool has_counters() const { return counters_.is_on(); }
  // Until the counters' next sample; at most `otherwise_us`.
  uint32_t UsUntilDue(uint32_t otherwise_us) const;
  ProcessStats* stats() { return &stats_; }
  // The last one; its RSS is the last that was known.
  const ProcessSample& last() const { return sample_; }

 private:
  void WriteToldRss(uint64_t time_ns);
  void FollowRss(uint64_t now_ns);
  void FollowPss(uint64_t now_ns);
  void Write(uint64_t time_ns);
  bool ReadMemory(uint64_t* time_ns);
  bool has_pages() const { return in_.launch->traces.has(Trace::kPages); }

  const Parts in_;
  ProcessStats stats_;
  PssMeter pss_;
  CounterMeter counters_;
  ProcessSample sample_;
  uint64_t sampled_number_ = 0;
  uint64_t next_rss_ns_ = 0;
  uint64_t looked_ns_ = 0;  // RSS was as in sample_; 0: that is written
  bool saw_finalize_ = false;
  bool read_alone_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_PROCESS_SAMPLER_H_
