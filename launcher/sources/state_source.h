// How it is learnt what threads do: perf events of their context switches, or
// what the scheduler has counted.
#ifndef PYMEMRUN_LAUNCHER_SOURCES_STATE_SOURCE_H_
#define PYMEMRUN_LAUNCHER_SOURCES_STATE_SOURCE_H_

#include <string>
#include <vector>

#include "launcher/options/options.h"

namespace pymemrun {

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

#endif  // PYMEMRUN_LAUNCHER_SOURCES_STATE_SOURCE_H_
