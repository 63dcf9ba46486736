// How pages are learnt of: perf events of their faults, or the collector's
// scan.
#ifndef PYMEMRUN_LAUNCHER_SOURCES_PAGE_SOURCE_H_
#define PYMEMRUN_LAUNCHER_SOURCES_PAGE_SOURCE_H_

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

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SOURCES_PAGE_SOURCE_H_
