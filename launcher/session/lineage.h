// Which process this is, and from which it came. A number alone does not say
// it: the kernel gives numbers again.
#ifndef PYMEMRUN_LAUNCHER_SESSION_LINEAGE_H_
#define PYMEMRUN_LAUNCHER_SESSION_LINEAGE_H_

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace pymemrun {

// A process of this boot. `start_ticks`: when it began, by the kernel's clock
// ticks since boot; 0: not known.
struct ProcessName {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
};

struct Lineage {
  ProcessName self;
  // The parent now; of a forked child that is traced, the traced process that
  // it was forked from, which may be gone.
  ProcessName parent;
  bool forked = false;
};

// Of a process that runs, or was not reaped.
ProcessName NameOfProcess(pid_t pid);

// The starttime in a text of /proc/PID/stat; 0: it has none.
uint64_t StartTicksIn(std::string_view stat);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_SESSION_LINEAGE_H_
