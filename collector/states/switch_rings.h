// Context switches of the program's threads, as the kernel records them.
#ifndef PYMEMRUN_COLLECTOR_STATES_SWITCH_RINGS_H_
#define PYMEMRUN_COLLECTOR_STATES_SWITCH_RINGS_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "collector/perf/perf_ring.h"
#include "format/trace.pb.h"

namespace pymemrun {

// What a thread did, or was seen to do.
struct ThreadStep {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint32_t thread;   // Linux thread id
  StateAction action;
  // For STATE_SEEN: the reason, and the number of the system call for
  // SLEEP_OTHER.
  SleepReason reason = SLEEP_UNKNOWN;
  int32_t call = -1;
};

// Not thread safe.
class SwitchRings {
 public:
  // As PerfRings::Map; the events are those of `pid`.
  static absl::StatusOr<std::unique_ptr<SwitchRings>> Map(int first_fd,
                                                          uint32_t count,
                                                          pid_t pid);

  // Appends the steps of all CPUs, and those added, that are not younger than
  // `until_ns`, in the order of time.
  void Drain(uint64_t until_ns, std::vector<ThreadStep>* out);
  // To come out among the others.
  void Add(const ThreadStep& step) {
    held_.Add([&](std::vector<ThreadStep>* held) { held->push_back(step); });
  }
  uint64_t lost() const { return rings_->lost(); }

  // Appends those of one ring. For Drain() and tests.
  static void DrainSteps(PerfRing* ring, pid_t pid,
                         std::vector<ThreadStep>* out);

 private:
  SwitchRings(std::unique_ptr<PerfRings> rings, pid_t pid)
      : rings_(std::move(rings)), pid_(pid) {}

  const std::unique_ptr<PerfRings> rings_;
  const pid_t pid_;
  HeldSamples<ThreadStep> held_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_STATES_SWITCH_RINGS_H_
