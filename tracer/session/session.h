// The tracer as the launcher uses it: one tracing session per process. The
// launcher makes the shared region, starts the collector on it, and calls, in
// this order:
//
//   SharedRegion::Create    before anything else of the tracer
//   Session::Prepare        before the first thread and before Py_Initialize*
//   (Py_InitializeFromConfig, Py_RunMain: the session starts tracing at the
//   last moment before the code of the user)
//   Session::Finish         from a C exit handler, or before death by SIGINT
//
// All functions are for the main thread of the process, and do not throw.
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
  // Opens the page-fault events, some of them with stacks. REQUIRES: the region
  // has a side ring. The caller closes the descriptors after Prepare. Returns
  // nullptr if there can be no page events; `why_not` then has a one-line
  // reason.
  static const PageCounters* OpenPages(const PagePeriod& period,
                                       const char** why_not);

  // Opens the RSS source, makes and touches the tables, registers the built-in
  // module `pymemrun` and an audit hook that runs once. `page` and `config`
  // must live until the process ends. Returns nullptr, or a one-line reason why
  // the program will run untraced. TraceConfig::follow calls Prepare again in a
  // forked child, which then continues.
  static const char* Prepare(ControlPage* page, const TraceConfig* config);

  // In a forked child, before Prepare: both clocks at the start of tracing in
  // the first process. Zeros if time stamps are CLOCK_MONOTONIC.
  static ClockPair EarlierClocks();

  // For a run without tracing: `import pymemrun` works, and its functions do
  // nothing.
  static void PrepareUntraced();

  // Stops all hooks, tells the collector that the program ends with `status`,
  // and waits up to `timeout_ms` for it to complete the run file; less if the
  // collector shows no sign of life. Returns whether the file is complete.
  // Returns false at once in a forked child and on a second call. Other threads
  // may still run.
  static bool Finish(EndReason reason, int status, int timeout_ms);

  // After the interpreter has finalised: returns whether it will end the
  // process by SIGINT, because of an uncaught KeyboardInterrupt. Only in the
  // traced process. May be wrong if the program ends by exit().
  static bool EndsByInterrupt();

  // After Finish returned false: returns whether the collector was working all
  // the time, delayed by a slow disk, and continues.
  static bool still_writing();

  // Returns whether the caller is in the process that Prepare prepared. A child
  // is not, even if it has the same pid in its own PID namespace.
  static bool InTracedProcess();

  // Returns whether the run became untraced after Prepare, and stderr already
  // says so.
  static bool untraced();

  // After Finish returned false: returns the number of rows, context included,
  // that are not in the file and will not be. If the collector is gone, these
  // are all rows it had not written; otherwise, the rows dropped on a full
  // ring.
  static uint64_t LostRows();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_SESSION_H_
