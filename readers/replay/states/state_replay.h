// What the threads of a run did, summed up for each.
#ifndef PYMEMRUN_READERS_REPLAY_STATES_STATE_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_STATES_STATE_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/replay/gil/gil_replay.h"
#include "readers/replay/states/thread_times.h"

namespace pymemrun {

// What a thread did, by its first ThreadDef.id.
struct ThreadStates {
  bool any = false;
  bool by_switches = false;  // else by the scheduler's counts
  ThreadTimes times;
  uint64_t voluntary = 0, preempted = 0;  // switches
};

// Reads the whole run, its GIL events too. Time and memory are linear in the
// file; what is sorted is in order already. Not thread safe.
class StateReplay : public GilReplay {
 public:
  // System calls of SLEEP_OTHER that are told apart; the others count as one.
  static constexpr size_t kMostNames = 100;

  // To be called first, if at all: all sums are of this part of the time, from
  // its begin until before its end. Those of parts side by side add up to those
  // of both. The run's GIL events are read whole.
  void SetRange(const TimeRange& range) { range_ = range; }

  void OnStateRecording(const StateRecording& recording) override;
  bool OnStates(const StateEvent* events, size_t count) override;
  bool OnSched(const SchedSample* samples, size_t count) override;
  void OnStatesLost(uint64_t switches) override { lost_ += switches; }
  void Finish() override;

  // After Finish().
  bool has_states() const { return has_states_; }
  bool has_switches() const { return has_switches_; }
  bool cannot_look() const { return cannot_look_; }
  const std::string& reason() const { return reason_; }
  uint64_t lost() const { return lost_; }
  const std::vector<ThreadStates>& states() const { return states_; }
  // The call's name, by index into ThreadTimes::other_ns. Empty: unknown.
  absl::string_view OtherName(size_t other) const {
    return other == 0 || other > names_.size() ? absl::string_view()
                                               : names_[other - 1];
  }

 protected:
  // Called in Finish() for each span of each thread with switches, one thread
  // after the other. `thread` is its first ThreadDef.id.
  virtual void OnSpan(uint32_t thread, const StateSpan& span) {}

 private:
  // What the file has about a thread.
  struct Told {
    ThreadSteps steps;
    std::vector<GilPart> holds, waits;
    std::vector<SchedReading> readings;
    // When the thread started and ended; an end of 0 is that of the run.
    uint64_t first_ns = ~uint64_t{0}, end_ns = 0;
    uint64_t voluntary = 0, preempted = 0;            // in the range
    uint64_t read_voluntary = 0, read_preempted = 0;  // of the last SchedSample
  };

  bool HasEvent(uint64_t time_ns) const {
    return time_ns >= range_.begin_ns && time_ns < range_.end_ns;
  }
  Told& TellOf(uint32_t first);
  void Take(const StateEvent& event);
  uint8_t CodeOf(const StateEvent& event);
  void OnHold(const GilSpan& hold) override;
  void OnWait(uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
              GilWaitKind kind) override;

  bool has_states_ = false, has_switches_ = false, cannot_look_ = false;
  std::string reason_;
  TimeRange range_;
  uint64_t lost_ = 0, last_ns_ = 0;
  uint64_t read_ns_ = 0, read_before_ns_ = 0;  // counts, the last times
  std::vector<std::string> names_;
  std::vector<Told> told_;  // by first ThreadDef.ids, as the next
  std::vector<ThreadStates> states_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_STATES_STATE_REPLAY_H_
