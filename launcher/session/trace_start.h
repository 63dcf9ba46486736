// Puts a traced run together: region, run file, collector, session, exit
// handler.
#ifndef PYMEMRUN_LAUNCHER_SESSION_TRACE_START_H_
#define PYMEMRUN_LAUNCHER_SESSION_TRACE_START_H_

#include <string>

#include "launcher/options/command_line.h"
#include "launcher/options/options.h"

namespace pymemrun {

struct TraceRequest {
  const Options* options;  // must live until the process ends
  const CommandLine* command_line;
  std::string python;          // the python that the run looks like
  std::string python_version;  // "3.11.2"
  std::string collector;       // overrides the search (tests); or empty
  bool preloaded = false;      // into an interpreter that is not part of us
  std::string not_recorded;    // of this interpreter, and why; empty: all is
  // Nobody asked pymemrun for this process: the environment says it. Without
  // --force a run file that is there is left alone, and the new one gets a
  // number.
  bool unasked = false;
};

// Everything before the interpreter's start. May fork (see small_init.h); what
// returns is the process that runs the program. Returns true if the program may
// run, traced or, after one line that says why, untraced; false, after one
// line, if the run file cannot be made (exit 2).
// REQUIRES: one thread, Python not initialised.
bool StartTracing(const TraceRequest& request);

// After it: which run files programs have that this process starts, as a
// pattern with {pid}. Empty: none is to be traced.
std::string StartedProgramsOutput();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_TRACE_START_H_
