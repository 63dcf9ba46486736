// Starts a traced run: region, run file, collector, session, exit handler.
#ifndef PYMEMRUN_LAUNCHER_SESSION_TRACE_START_H_
#define PYMEMRUN_LAUNCHER_SESSION_TRACE_START_H_

#include <string>

#include "launcher/options/command_line.h"
#include "launcher/options/options.h"

namespace pymemrun {

struct TraceRequest {
  const Options* options;  // must live until the process ends
  const CommandLine* command_line;
  std::string python;          // the Python of the run
  std::string python_version;  // "3.11.2"
  std::string collector;       // replaces the search, in tests; or empty
  bool preloaded = false;      // into another interpreter
  std::string not_recorded;    // and why; empty: nothing
  // Tracing was requested by the environment, not by a command. Without --force
  // an existing run file is kept, and the new one gets a number.
  bool unasked = false;
};

// Does everything before the start of the interpreter. May fork (small_init.h);
// returns in the process that runs the program. Returns true if the program may
// run: traced, or untraced after a line that says why. Returns false after a
// line if the run file cannot be created (exit code 2). REQUIRES: there is one
// thread, and Python is not initialised.
bool StartTracing(const TraceRequest& request);

// After StartTracing(): pattern with {pid} for run files of programs that this
// process starts. Empty: they are not traced.
std::string StartedProgramsOutput();

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_TRACE_START_H_
