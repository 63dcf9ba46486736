#include "collector/process/detach.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

namespace pymemrun {

void DetachFromProgram(int last_fd) {
  syscall(SYS_close_range, last_fd + 1, ~0u, 0);
  setsid();  // fails where the launcher has done it: as good
  // Signals that a terminal, a shell or `kill -- -group` sends. The collector
  // ends by itself soon after the program, and SIGKILL remains. SIGXFSZ and
  // SIGPIPE become errors of write.
  for (const int signal_number :
       {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU,
        SIGUSR1, SIGUSR2, SIGALRM, SIGXFSZ, SIGXCPU}) {
    signal(signal_number, SIG_IGN);
  }
  prctl(PR_SET_NAME, "pymemrun-coll");
  // A process keeps its folder busy, which prevents unmounting.
  if (chdir("/") != 0) {
  }
}

void OutliveProgram() {
  // When memory runs out, the kernel should kill the program first, as the
  // collector still has to write about it. Without the privilege nothing
  // changes.
  const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "-900", 4) < 0) {
  }
  close(fd);
}

void AskToWakePromptly() {
  // A short slice lets a waking thread run before those that compute, at no
  // larger share of the CPU. Linux takes it since 6.12 and refuses it before.
  // The struct is sched_attr of sched_setattr(2).
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline, period;
  } attributes = {sizeof(attributes), SCHED_OTHER, 0, 0, 0, 200000, 0, 0};
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace pymemrun
