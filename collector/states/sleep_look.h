// What a thread that sleeps waits for, as far as /proc tells.
#ifndef PYMEMRUN_COLLECTOR_STATES_SLEEP_LOOK_H_
#define PYMEMRUN_COLLECTOR_STATES_SLEEP_LOOK_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

struct SleepLook {
  enum Answer { kSleeps, kAwake, kRefused };
  Answer answer = kAwake;  // or it is gone
  SleepReason reason = SLEEP_UNKNOWN;
  int32_t call = -1;  // number of the system call; -1: it is in none
};

// `task_fd` is the folder /proc/PID/task. The kernel answers those who may
// trace the process.
SleepLook LookAtSleep(int task_fd, uint32_t thread);

// The parser, for tests: of /proc/PID/task/TID/syscall.
SleepLook ParseSyscall(absl::string_view text);
// "wait4", or the number of a system call that has no name here.
std::string NameOfCall(int32_t call);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_STATES_SLEEP_LOOK_H_
