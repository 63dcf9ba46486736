#include "collector/process/process_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collector/process/monotonic_clock.h"
#include "collector/process/proc_file.h"

namespace pymemrun {
namespace {

// As <linux/pidfd.h> of Linux 6.15 has it; Debian 12's header is older.
struct PidfdInfo {
  uint64_t mask;
  uint64_t cgroup_id;
  uint32_t ids[11];
  int32_t exit_code;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr uint64_t kPidfdInfoExit = 1u << 3;
constexpr unsigned long kPidfdGetInfo = _IOWR(0xff, 11, PidfdInfo);

// The events of a pidfd now (pidfd_open(2)): POLLIN when the process has ended,
// POLLHUP when it is reaped. Below 0: poll() is refused.
int PollNow(int fd) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  const int count = poll(&entry, 1, 0);
  if (count < 0 && errno != EINTR) return -1;
  return count > 0 ? entry.revents : 0;
}

// Signal 0 to a reaped process fails with ESRCH.
bool IsReaped(int pid_fd) {
  return syscall(SYS_pidfd_send_signal, pid_fd, 0, nullptr, 0) != 0 &&
         errno == ESRCH;
}

}  // namespace

bool WasOfProgram(const ControlPage& page, ProcessStats* stats) {
  // An exec by a raw system call has released the mutex first.
  return page.exec_pending.load(std::memory_order_acquire) == 0 &&
         !HolderDied(page.alive) && !stats->IsEnding();
}

ProcessWatch::ProcessWatch(const ControlPage* page, pid_t pid, int region_fd,
                           int pid_fd)
    : page_(page), pid_(pid), pid_fd_(pid_fd), stats_(pid) {
  fstat(region_fd, &region_);
}

ProcessWatch::State ProcessWatch::Check() {
  // Acquire: what the process wrote about its end is there with it.
  if (page_->end_state.load(std::memory_order_acquire) != 0) {
    return State::kSaidEnd;
  }
  if (HasEnded()) {
    // It may have said so in the meantime, as its last act. An exec that was
    // never withdrawn led to another program, which ended before we looked.
    if (page_->end_state.load(std::memory_order_acquire) != 0) {
      return State::kSaidEnd;
    }
    return page_->exec_pending.load(std::memory_order_acquire) != 0
               ? State::kExec
               : State::kDied;
  }
  return BecameAnotherProgram() ? State::kExec : State::kRunning;
}

bool ProcessWatch::BecameAnotherProgram() {
  // The kernel marks the mutex when the main thread ends: by exec, but also
  // when it merely left by pthread_exit and others run on.
  if (!HolderDied(page_->alive)) return false;
  const bool announced =
      page_->exec_pending.load(std::memory_order_acquire) != 0;
  const uint64_t now_ns = MonotonicNs();
  if (!announced && now_ns < next_look_ns_) return false;
  next_look_ns_ = now_ns + 100000000;
  const absl::optional<bool> maps = StillMapsRegion();
  // An exec unmaps the region. If the program of another user cannot be read,
  // the announcement decides.
  const bool gone = maps.has_value() ? !*maps : announced;
  // If the process has died, its number may belong to another process by now.
  return gone && !HasEnded();
}

bool ProcessWatch::HasEnded() {
  const int events = PollNow(pid_fd_);
  if (events >= 0) return events != 0;
  // A seccomp filter that the program set for itself also binds the collectors
  // of its children, and may refuse poll(). Without /proc the main thread
  // decides.
  return IsReaped(pid_fd_) ||
         stats_.HasEnded().value_or(HolderDied(page_->alive));
}

// Searches /proc/PID/maps for device and inode of the region.
absl::optional<bool> ProcessWatch::StillMapsRegion() const {
  FILE* maps = fopen(ProcPath(pid_, "maps").c_str(), "re");
  // No memory: the main thread is gone while others run on. An exec by one of
  // them would have given its number to the new program.
  if (maps == nullptr && errno == ESRCH) return true;
  if (maps == nullptr) return absl::nullopt;
  char* line = nullptr;
  size_t capacity = 0;
  bool any = false, found = false;
  while (!found && getline(&line, &capacity, maps) > 0) {
    any = true;
    unsigned major_number = 0, minor_number = 0;
    unsigned long inode = 0;
    if (sscanf(line, "%*s %*s %*s %x:%x %lu", &major_number, &minor_number,
               &inode) == 3) {
      found = inode == region_.st_ino &&
              makedev(major_number, minor_number) == region_.st_dev;
    }
  }
  free(line);
  fclose(maps);
  return found || !any;  // empty: no memory, as above
}

// Polls every 2 ms: no event tells that PIDFD_GET_INFO has the status now.
absl::optional<int> ProcessWatch::WaitStatus(int timeout_ms) const {
  const uint64_t until_ns = MonotonicNs() + uint64_t(timeout_ms) * 1000000;
  while (true) {
    // POLLHUP: reaped, so what is not said after it never will be. Older
    // kernels say neither, and the wait is for nothing.
    const int events = PollNow(pid_fd_);
    const bool reaped =
        events < 0 ? IsReaped(pid_fd_) : (events & POLLHUP) != 0;
    PidfdInfo info = {};
    info.mask = kPidfdInfoExit;
    if (ioctl(pid_fd_, kPidfdGetInfo, &info) == 0 &&
        (info.mask & kPidfdInfoExit) != 0) {
      return info.exit_code;
    }
    if (reaped || MonotonicNs() >= until_ns) break;
    const timespec nap = {.tv_sec = 0, .tv_nsec = 2000000};
    nanosleep(&nap, nullptr);
  }
  return absl::nullopt;
}

}  // namespace pymemrun
