// Identity of this process and its parent. A pid is not enough, because the
// kernel reuses pids.
#ifndef PYMEMRUN_LAUNCHER_SESSION_LINEAGE_H_
#define PYMEMRUN_LAUNCHER_SESSION_LINEAGE_H_

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace pymemrun {

// A process since the last boot. `start_ticks` is its start in clock ticks
// since boot; 0: not known.
struct ProcessName {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
};

struct Lineage {
  ProcessName self;
  // The current parent. For a traced forked child the traced process that
  // forked it, which may have ended.
  ProcessName parent;
  bool forked = false;
};

// Identity of a process that runs or was not reaped.
ProcessName NameOfProcess(pid_t pid);

// Returns the start time in a text of /proc/PID/stat; 0 if it is missing.
uint64_t StartTicksIn(std::string_view stat);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_LINEAGE_H_
