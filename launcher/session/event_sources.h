// Opens the sources of page events and thread states: perf events, or reading
// by the collector.
#ifndef PYMEMRUN_LAUNCHER_SESSION_EVENT_SOURCES_H_
#define PYMEMRUN_LAUNCHER_SESSION_EVENT_SOURCES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace pymemrun {

struct OpenedPages {
  std::vector<int> fds;   // of perf events; the caller closes them
  uint32_t samplers = 0;  // the first ones sample, the others signal
  bool user_only = false;
  bool by_scan = false;  // the collector scans pages
  // A line for users who asked for pages and get another source or none. Empty:
  // nothing to report.
  std::string notice;

  bool any() const { return by_scan || !fds.empty(); }
};

// Opens the page source that the options ask for and the system allows.
OpenedPages OpenPageSource(const Options& options);

struct OpenedStates {
  bool any = false;      // states are recorded
  std::vector<int> fds;  // perf events; empty: schedstat. The caller closes
  std::string reason;    // why schedstat
  // A line for users who do not get the best source. Empty: nothing to report.
  std::string notice;
};

// Opens the source of thread states that the options ask for and the system
// allows. The events record from now on, for the calling thread and all threads
// that it will start, until all descriptors and mappings are closed. REQUIRES:
// there is one thread.
OpenedStates OpenStateSource(const Options& options);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_EVENT_SOURCES_H_
