// What the scheduler has counted of each thread, read in /proc.
#ifndef PYMEMRUN_COLLECTOR_STATES_SCHED_SAMPLER_H_
#define PYMEMRUN_COLLECTOR_STATES_SCHED_SAMPLER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

struct SchedFigures {
  uint64_t run_ns = 0, runnable_ns = 0;
  uint64_t voluntary = 0, preempted = 0;

  bool operator==(const SchedFigures&) const = default;
};

// Not thread safe.
class SchedSampler {
 public:
  // Who says ThreadDef.id of a Linux thread id; `is_new`: another thread has
  // that number now.
  using IdOf = absl::FunctionRef<uint32_t(uint32_t thread, bool is_new)>;

  // `task_fd` is the folder /proc/PID/task, and stays the caller's. With
  // `counts_switches` also these are read, which takes as long again.
  SchedSampler(int task_fd, bool counts_switches)
      : task_fd_(task_fd), counts_switches_(counts_switches) {}

  // From now on figures are those since this call. Fills `batch` with the
  // threads that are there, and zeros.
  void Start(IdOf id_of, SchedBatch* batch);
  // Fills `batch` with the threads that have more counted than last time.
  // Returns those that are there no more.
  std::vector<uint32_t> Read(IdOf id_of, SchedBatch* batch);
  // The thread is gone: its number may be another's.
  void Ended(uint32_t thread) { known_.erase(thread); }

 private:
  struct Known {
    SchedFigures before, last;
    uint64_t round = 0;
  };

  bool ReadOne(uint32_t thread, SchedFigures* figures) const;
  std::vector<uint32_t> Threads() const;
  void Add(uint32_t id, const SchedFigures& figures, SchedBatch* batch) const;

  const int task_fd_;
  const bool counts_switches_;
  uint64_t round_ = 0;
  absl::flat_hash_map<uint32_t, Known> known_;  // by Linux thread ids
};

// The parsers, for tests: of schedstat, and of status. Return whether all was
// there.
bool ParseSchedstat(absl::string_view text, SchedFigures* figures);
bool ParseSwitches(absl::string_view status, SchedFigures* figures);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_STATES_SCHED_SAMPLER_H_
