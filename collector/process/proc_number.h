// Which folder of /proc is a process's.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PROC_NUMBER_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PROC_NUMBER_H_

#include <sys/types.h>

namespace pymemrun {

// The number by which /proc calls the process that this one calls `pid`. That
// is another where /proc is still an outer PID namespace's, in which `pid` may
// be anybody. 0 where it does not show the process; `pid` where it cannot be
// told.
pid_t ProcNumberOf(pid_t pid);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PROC_NUMBER_H_
