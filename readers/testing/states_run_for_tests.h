// Run files with states of threads and events of the GIL. For tests only.
#ifndef PYMEMRUN_READERS_TESTING_STATES_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_STATES_RUN_FOR_TESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "format/timed/gil_batch.h"
#include "format/timed/state_batch.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {

// A run of 100 ms with two threads.
class StatesRun {
 public:
  static constexpr uint64_t kMsInNs = 1000000;

  explicit StatesRun(bool switches = true) : builder_(&sink_) {
    builder_.AddHeader(RunBuilder::DefaultHeader());
    builder_.AddThread("MainThread", 11);
    builder_.AddThread("worker", 12);
    Record record;
    StateRecording* const recording = record.mutable_state_recording();
    recording->set_switches(switches);
    if (!switches) recording->set_reason("perf_event_open: refused");
    builder_.AddRecord(record);
  }
  StatesRun& Step(uint64_t ms, uint32_t thread, StateAction action,
                  SleepReason reason = SLEEP_UNKNOWN, const char* other = "") {
    states_.Append({ms * kMsInNs, thread, action, reason, other});
    return *this;
  }
  StatesRun& Gil(uint64_t ms, uint32_t thread, GilAction action,
                 uint64_t free_ms = 0, uint64_t paused_ms = 0) {
    GilEvent event;
    event.time_ns = ms * kMsInNs;
    event.thread = thread;
    event.action = action;
    event.free_ns = free_ms * kMsInNs;
    event.paused_ns = paused_ms * kMsInNs;
    gil_.Append(event);
    return *this;
  }
  StatesRun& Sched(uint64_t ms, uint32_t thread, uint64_t run_ms,
                   uint64_t runnable_ms, uint64_t voluntary = 0) {
    Record record;
    SchedBatch* const batch = record.mutable_sched();
    batch->set_time_us(ms * 1000);
    batch->add_thread(thread);
    batch->add_run_ns(run_ms * kMsInNs);
    batch->add_runnable_ns(runnable_ms * kMsInNs);
    batch->add_voluntary(voluntary);
    batch->add_preempted(0);
    sched_.push_back(record);
    return *this;
  }
  StatesRun& Lost(uint64_t switches) {
    states_.AddLost(switches);
    return *this;
  }
  StatesRun& CannotLook() {
    Record record;
    record.mutable_state_recording()->set_switches(true);
    record.mutable_state_recording()->set_cannot_look(true);
    builder_.AddRecord(record);
    return *this;
  }
  std::string Build() {
    Record record;
    if (gil_.entries() > 0) {
      gil_.Take(record.mutable_gil());
      builder_.AddRecord(record);
    }
    if (!states_.empty()) {
      states_.Take(record.mutable_states());
      builder_.AddRecord(record);
    }
    for (const Record& one : sched_) builder_.AddRecord(one);
    record.mutable_footer()->set_end_us(100000);
    builder_.AddRecord(record);
    builder_.Flush();
    return sink_.contents();
  }

 private:
  StringSink sink_;
  RunBuilder builder_;
  StateBatchEncoder states_;
  GilBatchEncoder gil_;
  std::vector<Record> sched_;
};

// The main thread runs 50 ms with the GIL, 10 of them preempted, and then reads
// for 50 ms. The worker waits for the GIL first, has it for 20 ms, sleeps
// for 20 ms, and ends.
inline StatesRun TwoStateThreads() {
  StatesRun run;
  run.Step(0, 1, STATE_RUNS)
      .Step(0, 2, STATE_BORN)
      .Step(5, 2, STATE_RUNS)
      .Step(10, 2, STATE_SLEEPS)
      .Step(15, 2, STATE_SEEN, SLEEP_LOCK)
      .Step(20, 1, STATE_PREEMPTED)
      .Step(30, 1, STATE_RUNS)
      .Step(50, 1, STATE_SLEEPS)
      .Step(50, 2, STATE_RUNS)
      .Step(55, 1, STATE_SEEN, SLEEP_IO)
      .Step(70, 2, STATE_SLEEPS)
      .Step(75, 2, STATE_SEEN, SLEEP_TIMER)
      .Step(90, 2, STATE_RUNS)
      .Step(90, 2, STATE_ENDED);
  run.Gil(0, 1, GIL_TAKEN)
      .Gil(10, 2, GIL_WAITING)
      .Gil(50, 2, GIL_TAKEN)
      .Gil(100, 2, GIL_STATE, 30);
  return run;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_STATES_RUN_FOR_TESTS_H_
