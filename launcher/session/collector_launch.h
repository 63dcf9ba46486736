// Finds the collector and starts it beside the program: as an orphan in its own
// session, with the descriptors of collector_start.h and nothing else.
#ifndef PYMEMRUN_LAUNCHER_SESSION_COLLECTOR_LAUNCH_H_
#define PYMEMRUN_LAUNCHER_SESSION_COLLECTOR_LAUNCH_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace pymemrun {

// The collector's path: `override_path` if not empty, else beside us, in the
// build tree, or installed in libexec, seen from bin or from lib/pymemrun.
// Empty if none can be executed.
std::string FindCollector(const std::string& override_path);

// pymemreport's path: beside us, or in the build tree. Empty where it is
// missing.
std::string FindReporter();

// The keys and values of the launch text, in order.
using LaunchFacts = std::vector<std::pair<std::string, std::string>>;

// The launch text: `key=value` strings, each with a NUL. A value is cut at its
// first NUL.
std::string LaunchTextOf(const LaunchFacts& facts);

// A close-on-exec memfd that holds the launch text, at offset 0; -1: errno.
int MakeLaunchText(const std::string& text);

struct CollectorFiles {
  int region = -1;
  int reply = -1;
  int output = -1;
  int pid = -1;
  int text = -1;
  std::vector<int> pages;   // perf events, see kCollectorPageFds
  std::vector<int> states;  // those behind them
};

// Starts the collector at `path`. It is not a child of this process, and its
// start and end send no signal. Returns 0 once it executes, with its pid in
// *collector; otherwise the errno that prevented it. The caller closes `files`.
int StartCollector(const std::string& path, const CollectorFiles& files,
                   pid_t* collector);

// Runs `<path> --name-of FILE`: the name YYYYMMDD_HHMMSS_PID that a run file
// gives itself. Empty for any other file, or if the helper fails.
std::string AskNameOf(const std::string& path, const std::string& file);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_COLLECTOR_LAUNCH_H_
