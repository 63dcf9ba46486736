// The collector's part of thread states: from the kernel's context switches,
// and what /proc tells of threads, to the run file's records.
#ifndef PYMEMRUN_COLLECTOR_STATES_STATE_COLLECTOR_H_
#define PYMEMRUN_COLLECTOR_STATES_STATE_COLLECTOR_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "collector/definitions/definition_table.h"
#include "collector/output/record_sink.h"
#include "collector/output/source.h"
#include "collector/process/clock_scale.h"
#include "collector/process/monotonic_clock.h"
#include "collector/states/sched_sampler.h"
#include "collector/states/switch_rings.h"
#include "format/timed/state_batch.h"

namespace pymemrun {

// CollectorProcess owns one when the launch text says so, and calls it from its
// one thread. All pointers must outlive it.
class StateCollector final : public Source {
 public:
  struct Options {
    pid_t pid;           // of the traced process...
    int first_fd;        // ...and of the perf events...
    uint32_t events;     // ...and how many there are; 0: none
    std::string reason;  // why no switches are recorded
    const ClockScale* clock;
    DefinitionTable* definitions;
    RecordSink* out;
  };
  // Maps the perf events and closes their descriptors. Where that fails the
  // scheduler's counts are all there is.
  explicit StateCollector(Options options);
  ~StateCollector() override;
  StateCollector(const StateCollector&) = delete;
  StateCollector& operator=(const StateCollector&) = delete;

  // What is older than a second is not kept.
  void Keep(uint64_t now_ns) override { Drain(now_ns); }
  void Describe(uint64_t start_ns) override;
  size_t Round(uint64_t) override { return Drain(MonotonicNs()); }
  // Empties the rings, and reads what is due. Returns how many steps there
  // were. Before Describe() nothing is written.
  size_t Drain(uint64_t now_ns);
  // How long the rings may be left to fill.
  uint32_t longest_nap_us() const override;
  void EndBatch(uint64_t now_ns) override;
  void Finish(uint64_t now_ns, bool process_lives) override;

 private:
  struct Doing {
    uint32_t id = 0;      // ThreadDef.id
    uint64_t sleeps = 0;  // how many so far, this one included
    bool is_asleep = false;
  };
  struct Sleeper {
    uint64_t since_ns;
    uint32_t thread;
    uint64_t sleeps;  // as Doing's then
  };

  void WriteRecording();
  void Take(const ThreadStep& step);
  uint32_t IdOf(uint32_t thread, uint64_t time_ns, bool is_new);
  void LookAtSleepers(uint64_t now_ns);
  void LookAt(uint32_t thread);
  void SampleSched(uint64_t now_ns);
  void WriteBatch();

  Options options_;
  std::unique_ptr<SwitchRings> rings_;  // nullptr without perf
  const int task_fd_;
  SchedSampler sampler_;
  bool started_ = false;
  uint64_t start_ns_ = 0;
  std::vector<ThreadStep> steps_;
  StateBatchEncoder encoder_;
  absl::flat_hash_map<uint32_t, Doing> threads_;  // by Linux thread ids
  // ThreadDef.ids of those that ended, by the numbers that they had.
  absl::flat_hash_map<uint32_t, uint32_t> ended_;
  std::deque<Sleeper> sleepers_;  // in the order of time
  bool cannot_look_ = false;
  uint64_t next_look_ns_ = 0;
  uint64_t next_sample_ns_ = 0;
  uint64_t written_lost_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_STATES_STATE_COLLECTOR_H_
