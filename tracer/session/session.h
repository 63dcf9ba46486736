// The tracer as the launcher sees it: one tracing session per process. The
// launcher makes the shared region, starts the collector on it, and calls, in
// this order:
//
//   SharedRegion::Create    before anything else of ours
//   Session::Prepare        before the first thread and before Py_Initialize*
//   (Py_InitializeFromConfig, Py_RunMain: the session arms itself at the last
//   moment before the user's code)
//   Session::Finish         from a C exit handler, or before death by SIGINT
//
// All functions are for the process's main thread, and do not throw.
#ifndef PYMEMRUN_TRACER_SESSION_SESSION_H_
#define PYMEMRUN_TRACER_SESSION_SESSION_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/base/trace_config.h"
#include "tracer/pages/page_counters.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

class Session {
 public:
  // For page events, with a region that has a side ring: opens what tells of
  // page faults, with the stacks of some. The descriptors are the caller's, to
  // close after Prepare. Returns nullptr where the run has no page events;
  // `why_not` says it in one line.
  static const PageCounters* OpenPages(const PagePeriod& period,
                                       const char** why_not);

  // Opens the RSS source, makes and touches the tables, registers the built-in
  // module `pymemrun` and the one-time audit hook. Returns nullptr, or one line
  // that says why the program will run untraced. `page` and `config` must stay.
  // Again by TraceConfig::follow in a forked child, which then goes on.
  static const char* Prepare(ControlPage* page, const TraceConfig* config);

  // In a forked child, before Prepare: what the clocks showed when the first
  // process began to be traced. Zeros where time stamps are the kernel's clock.
  static ClockPair EarlierClocks();

  // For a run without tracing: `import pymemrun` works, its functions do
  // nothing.
  static void PrepareUntraced();

  // Stops all hooks, tells the collector that the program ends with `status`,
  // and waits at most `timeout_ms` for it to complete the run file, less when
  // it shows no sign of life. Returns whether it did. Returns false at once in
  // a forked child and when called again. Threads may still run.
  static bool Finish(EndReason reason, int status, int timeout_ms);

  // At the end of the interpreter's finalisation: whether it goes on to end the
  // process by SIGINT, for a KeyboardInterrupt that nothing caught. Of the
  // traced process only; it may be wrong where the program ends by exit().
  static bool EndsByInterrupt();

  // After Finish returned false: whether the collector was at work all along,
  // kept by a slow disk, and goes on.
  static bool still_writing();

  // Whether the caller is in the process that Prepare prepared. A child is not,
  // even with the same number in a PID namespace of its own.
  static bool InTracedProcess();

  // Whether the run turned out to go untraced after Prepare, which stderr was
  // told: Finish would only repeat it.
  static bool untraced();

  // After Finish returned false: how many rows, context included, are not in
  // the file and will not be. Where the collector is gone, all that it had not
  // written; where it may come back, those that found no room.
  static uint64_t LostRows();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_SESSION_H_
