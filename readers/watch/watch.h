// Shows a run while it goes on: `pymemreport watch`.
#ifndef PYMEMRUN_READERS_WATCH_WATCH_H_
#define PYMEMRUN_READERS_WATCH_WATCH_H_

#include <string>

#include "readers/run/console.h"
#include "readers/watch/traced_process.h"

namespace pymemrun {

struct WatchRequest {
  std::string path;
  bool once = false;              // what is there now, as plain lines
  StartedRun* started = nullptr;  // whose file it is; null: somebody else's
};

// On a terminal until the user ends it, else, in lines, until the run has
// ended. Returns the exit code: of a program that was started its own.
int WatchRun(const WatchRequest& request, const Console& console);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_WATCH_H_
