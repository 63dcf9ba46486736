// Shows a run while it runs: `pymemreport watch`.
#ifndef PYMEMRUN_READERS_WATCH_WATCH_H_
#define PYMEMRUN_READERS_WATCH_WATCH_H_

#include <string>

#include "readers/run/console.h"
#include "readers/watch/traced_process.h"

namespace pymemrun {

// What to watch, and how.
struct WatchRequest {
  std::string path;
  bool once = false;  // print the current state as plain lines
  // The run of `path`; null: started by someone else.
  StartedRun* started = nullptr;
};

// Shows the run on a terminal until the user quits, otherwise prints lines
// until the run ends. Returns the exit code: that of the program, if it was
// started here.
int WatchRun(const WatchRequest& request, const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_WATCH_H_
