// Reads a run's counters.
#ifndef PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_REPLAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/replay/counters/counter_series.h"
#include "readers/replay/heap/heap_replay.h"

namespace pymemrun {

// Keeps every value: memory is linear in the file. Not thread safe.
class CounterReplay final : public HeapReplay {
 public:
  // Of the process, in the order in which they are shown.
  enum Kind {
    kRss,
    kPss,
    kHeap,  // live bytes, as far as heap events tell
    kUserCpu,
    kSystemCpu,
    kMinorFaults,
    kMajorFaults,
    kDescriptors,
    kKinds,
  };

  CounterReplay();

  // To be called first, if at all: only what is of this time is kept.
  void SetRange(uint64_t from_us, uint64_t to_us) {
    from_us_ = from_us;
    to_us_ = to_us;
  }
  void OnProcess(const ProcessSample& sample) override;
  void OnGcRun(const GcRun& run) override;
  void OnCounter(const CounterValue& value) override;
  void OnCounterPlan(const CounterPlan& plan) override;
  void OnFooter(const Footer& footer) override;
  void Finish() override;

  // The run was made with counters.
  const CounterSeries& Of(Kind kind) const { return series_[kind]; }
  // Those of the process, then the user's in the order of their first values.
  const std::vector<CounterSeries>& series() const { return series_; }
  size_t user_series() const { return series_.size() - kKinds; }
  // Whether runs of the cycle collector were recorded, and those, in the order
  // of the file.
  bool knows_gc_runs() const { return gc_runs_known_; }
  const std::vector<GcRun>& gc_runs() const { return gc_runs_; }
  // Between two samples: as asked for, and on average; 0: there are not two.
  uint64_t every_us() const { return every_us_; }
  uint64_t TrueEveryUs() const;
  // Values of the user's that found no room.
  uint64_t refused() const { return refused_; }
  uint64_t hwm_bytes() const { return hwm_bytes_; }
  // The last moment at which all counters of the process are known.
  uint64_t LastOfAllUs() const;
  // From the range's begin, or the run's, to the end.
  uint64_t begin_us() const { return from_us_; }
  uint64_t end_us() const { return std::min(last_us(), to_us_); }
  uint64_t long_us() const { return end_us() - std::min(end_us(), from_us_); }

 private:
  std::vector<CounterSeries> series_;
  absl::flat_hash_map<std::string, size_t> by_name_;  // the user's
  std::vector<GcRun> gc_runs_;
  bool gc_runs_known_ = false;
  uint64_t from_us_ = 0, to_us_ = kEnd;
  uint64_t every_us_ = 0, refused_ = 0, hwm_bytes_ = 0;
  uint64_t samples_ = 0, first_sample_us_ = 0, last_sample_us_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_COUNTERS_COUNTER_REPLAY_H_
