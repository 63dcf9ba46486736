// A run with GIL events, for tests of what reads them.
#ifndef PYMEMRUN_READERS_TESTING_GIL_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_GIL_RUN_FOR_TESTS_H_

#include <cstdint>
#include <string>

#include "format/timed/gil_batch.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {

inline constexpr uint64_t kMs = 1000000;

// A run of 100 ms with three threads, and stacks: 1 own line, 2 a library's
// function that it called, 3 another own line.
class GilRun {
 public:
  explicit GilRun(bool free_threaded = false) : builder_(&sink_) {
    builder_.AddHeader(RunBuilder::DefaultHeader());
    builder_.AddThread("MainThread", 11);
    builder_.AddThread("worker", 12);
    builder_.AddThread("idle", 13);
    const uint32_t own = builder_.AddCode("/app.py", "work", 1);
    const uint32_t json =
        builder_.AddCode("/usr/lib/python3.11/json/__init__.py", "loads", 9);
    builder_.AddStack(0, own, 31);
    builder_.AddStack(1, json, 346);
    builder_.AddStack(0, own, 50);
    builder_.AddFunction("scan_once", "json.scanner");
    Record record;
    record.mutable_gil_recording()->set_min_wait_ns(kMs);
    record.mutable_gil_recording()->set_free_threaded(free_threaded);
    builder_.AddRecord(record);
  }
  GilRun& Add(GilEvent event) {
    events_.Append(event);
    return *this;
  }
  void AddRecord(const Record& record) { builder_.AddRecord(record); }
  std::string Build(bool with_footer = true) {
    Record record;
    events_.Take(record.mutable_gil());
    builder_.AddRecord(record);
    if (with_footer) {
      Record footer;
      footer.mutable_footer()->set_end_us(100000);
      builder_.AddRecord(footer);
    }
    builder_.Flush();
    return sink_.contents();
  }

 private:
  StringSink sink_;
  RunBuilder builder_;
  GilBatchEncoder events_;
};

inline GilEvent At(uint64_t ms, uint32_t thread, GilAction action) {
  GilEvent event;
  event.time_ns = ms * kMs;
  event.thread = thread;
  event.action = action;
  return event;
}

inline GilEvent WithHold(GilEvent event, uint64_t free_ms, uint64_t pauses = 0,
                         uint64_t paused_ms = 0) {
  event.free_ns = free_ms * kMs;
  event.pauses = pauses;
  event.paused_ns = paused_ms * kMs;
  return event;
}

inline GilEvent WithStack(GilEvent event, uint32_t stack,
                          uint32_t function = 0) {
  event.stack = stack;
  event.function = function;
  return event;
}

inline GilEvent WithBy(GilEvent event, uint32_t thread) {
  event.by = thread;
  return event;
}

// A run without a GIL. The worker waits from 10 to 50 ms for a lock
// that the main thread lets go of. From 60 ms on the main thread stops all
// others: it waits 5 ms for them, and the worker stands still from 62 to 80 ms.
inline GilRun FreeThreaded() {
  GilRun run(/*free_threaded=*/true);
  run.Add(At(0, 1, GIL_LOCK_WAITING))
      .Add(WithBy(At(0, 1, GIL_LOCK_TAKEN), 0))
      .Add(At(10, 2, GIL_LOCK_WAITING))
      .Add(WithStack(At(50, 1, GIL_HOLDER), 2, 1))
      .Add(WithBy(At(50, 2, GIL_LOCK_TAKEN), 1))
      .Add(WithStack(At(50, 2, GIL_WAITER), 3))
      .Add(At(60, 1, GIL_STOPS_OTHERS))
      .Add(At(62, 2, GIL_STANDS_STILL))
      .Add(At(65, 1, GIL_OTHERS_STOPPED))
      .Add(WithStack(At(80, 1, GIL_HOLDER), 3))
      .Add(WithBy(At(80, 2, GIL_GOES_ON), 1));
  return run;
}

// The main thread holds the GIL up to 60 ms, except 10 ms of pauses. The worker
// waits for it from 20 ms on, and has it to the end except the last 10 ms.
inline GilRun Contended() {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(WithHold(At(20, 2, GIL_WAITING), 0, 2, 10))
      .Add(WithStack(At(60, 1, GIL_HOLDER), 2, 1))
      .Add(WithHold(At(60, 2, GIL_TAKEN), 0, 2, 10))
      .Add(WithStack(At(60, 2, GIL_WAITER), 3))
      .Add(WithHold(At(100, 2, GIL_STATE), 10));
  return run;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_GIL_RUN_FOR_TESTS_H_
