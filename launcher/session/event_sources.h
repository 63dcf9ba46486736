// How pages are learnt of: perf events of their faults, or the collector's
// scan.
#ifndef PYMEMRUN_LAUNCHER_SESSION_EVENT_SOURCES_H_
#define PYMEMRUN_LAUNCHER_SESSION_EVENT_SOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace pymemrun {

struct OpenedPages {
  std::vector<int> fds;   // of perf events, the caller's; empty: none
  uint32_t samplers = 0;  // so many of these sample, the others signal
  bool user_only = false;
  bool by_scan = false;  // the collector is to scan
  // One line for who asked for pages and gets others, or none. Empty: nothing
  // is to be said.
  std::string notice;

  bool any() const { return by_scan || !fds.empty(); }
};

// Of these options, and what the system allows.
OpenedPages OpenPageSource(const Options& options);

// How it is learnt what threads do: perf events of their context switches, or
// what the scheduler has counted.

struct OpenedStates {
  bool any = false;      // states are recorded
  std::vector<int> fds;  // perf events, the caller's; empty: by schedstat
  std::string reason;    // why by that
  // One line for who gets another source than the best. Empty: nothing is to be
  // said.
  std::string notice;
};

// Of these options, and what the system allows. The events record from now on,
// for the calling thread and all that it will start, as long as a descriptor or
// a mapping of one is left. REQUIRES: one thread.
OpenedStates OpenStateSource(const Options& options);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_EVENT_SOURCES_H_
