// Sees the end of the traced process, whichever way it comes.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PROCESS_WATCH_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PROCESS_WATCH_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>

#include "absl/types/optional.h"
#include "collector/process/process_stats.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Not thread safe. The descriptors stay the caller's; `page` must outlive it.
class ProcessWatch {
 public:
  // `pid` and `pid_fd` are the traced process's.
  ProcessWatch(const ControlPage* page, pid_t pid, int region_fd, int pid_fd);

  enum class State {
    kRunning,
    kSaidEnd,  // end_state was released
    kDied,
    kExec,  // it became another program
  };
  // Cheap: two loads and a poll, and only while the main thread is gone
  // sometimes a look at /proc/PID/maps.
  State Check();

  // Wait status of a process that died, from the kernel (Linux 6.15 on, once
  // its parent has reaped it). Waits for it at most `timeout_ms`.
  absl::optional<int> WaitStatus(int timeout_ms) const;

 private:
  bool BecameAnotherProgram();
  bool HasEnded();
  // Whether the process still maps our region; nullopt: cannot be seen.
  absl::optional<bool> StillMapsRegion() const;

  const ControlPage* page_;
  const pid_t pid_;
  int pid_fd_;
  ProcessStats stats_;
  struct stat region_ = {};
  uint64_t next_look_ns_ = 0;
};

// Whether what has just been read of the process's memory was the program's: it
// had not begun to end, nor become another program.
bool WasOfProgram(const ControlPage& page, ProcessStats* stats);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PROCESS_WATCH_H_
