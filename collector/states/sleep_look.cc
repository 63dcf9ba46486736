#include "collector/states/sleep_look.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace pymemrun {
namespace {

struct Call {
  int32_t number;
  const char* name;
  SleepReason reason;
};

#define PYMEMRUN_CALL(name, reason) {SYS_##name, #name, reason},
// System calls in which threads sleep.
constexpr Call kCalls[] = {
    PYMEMRUN_CALL(futex, SLEEP_LOCK)
#ifdef SYS_futex_waitv
    PYMEMRUN_CALL(futex_waitv, SLEEP_LOCK)
#endif
    PYMEMRUN_CALL(flock, SLEEP_LOCK)
    PYMEMRUN_CALL(semop, SLEEP_LOCK)
    PYMEMRUN_CALL(semtimedop, SLEEP_LOCK)
    PYMEMRUN_CALL(nanosleep, SLEEP_TIMER)
    PYMEMRUN_CALL(clock_nanosleep, SLEEP_TIMER)
    PYMEMRUN_CALL(read, SLEEP_IO)
    PYMEMRUN_CALL(readv, SLEEP_IO)
    PYMEMRUN_CALL(pread64, SLEEP_IO)
    PYMEMRUN_CALL(preadv, SLEEP_IO)
    PYMEMRUN_CALL(preadv2, SLEEP_IO)
    PYMEMRUN_CALL(write, SLEEP_IO)
    PYMEMRUN_CALL(writev, SLEEP_IO)
    PYMEMRUN_CALL(pwrite64, SLEEP_IO)
    PYMEMRUN_CALL(pwritev, SLEEP_IO)
    PYMEMRUN_CALL(pwritev2, SLEEP_IO)
    PYMEMRUN_CALL(recvfrom, SLEEP_IO)
    PYMEMRUN_CALL(recvmsg, SLEEP_IO)
    PYMEMRUN_CALL(recvmmsg, SLEEP_IO)
    PYMEMRUN_CALL(sendto, SLEEP_IO)
    PYMEMRUN_CALL(sendmsg, SLEEP_IO)
    PYMEMRUN_CALL(sendmmsg, SLEEP_IO)
    PYMEMRUN_CALL(sendfile, SLEEP_IO)
    PYMEMRUN_CALL(splice, SLEEP_IO)
    PYMEMRUN_CALL(tee, SLEEP_IO)
    PYMEMRUN_CALL(accept, SLEEP_IO)
    PYMEMRUN_CALL(accept4, SLEEP_IO)
    PYMEMRUN_CALL(connect, SLEEP_IO)
    PYMEMRUN_CALL(ppoll, SLEEP_IO)
    PYMEMRUN_CALL(pselect6, SLEEP_IO)
    PYMEMRUN_CALL(epoll_pwait, SLEEP_IO)
#ifdef SYS_epoll_pwait2
    PYMEMRUN_CALL(epoll_pwait2, SLEEP_IO)
#endif
#ifdef SYS_poll
    PYMEMRUN_CALL(poll, SLEEP_IO)
    PYMEMRUN_CALL(select, SLEEP_IO)
    PYMEMRUN_CALL(epoll_wait, SLEEP_IO)
    PYMEMRUN_CALL(open, SLEEP_IO)
    PYMEMRUN_CALL(unlink, SLEEP_IO)
    PYMEMRUN_CALL(rename, SLEEP_IO)
    PYMEMRUN_CALL(pause, SLEEP_OTHER)
    PYMEMRUN_CALL(vfork, SLEEP_OTHER)
#endif
    PYMEMRUN_CALL(openat, SLEEP_IO)
    PYMEMRUN_CALL(unlinkat, SLEEP_IO)
    PYMEMRUN_CALL(renameat2, SLEEP_IO)
    PYMEMRUN_CALL(getdents64, SLEEP_IO)
    PYMEMRUN_CALL(ftruncate, SLEEP_IO)
    PYMEMRUN_CALL(fallocate, SLEEP_IO)
    PYMEMRUN_CALL(fsync, SLEEP_IO)
    PYMEMRUN_CALL(fdatasync, SLEEP_IO)
    PYMEMRUN_CALL(sync_file_range, SLEEP_IO)
    PYMEMRUN_CALL(syncfs, SLEEP_IO)
    PYMEMRUN_CALL(msync, SLEEP_IO)
    PYMEMRUN_CALL(io_getevents, SLEEP_IO)
    PYMEMRUN_CALL(io_uring_enter, SLEEP_IO)
    PYMEMRUN_CALL(ioctl, SLEEP_IO)
    PYMEMRUN_CALL(fcntl, SLEEP_OTHER)
    PYMEMRUN_CALL(wait4, SLEEP_OTHER)
    PYMEMRUN_CALL(waitid, SLEEP_OTHER)
    PYMEMRUN_CALL(clone, SLEEP_OTHER)
    PYMEMRUN_CALL(clone3, SLEEP_OTHER)
    PYMEMRUN_CALL(execve, SLEEP_OTHER)
    PYMEMRUN_CALL(exit_group, SLEEP_OTHER)
    PYMEMRUN_CALL(rt_sigsuspend, SLEEP_OTHER)
    PYMEMRUN_CALL(rt_sigtimedwait, SLEEP_OTHER)
    PYMEMRUN_CALL(msgrcv, SLEEP_OTHER)
    PYMEMRUN_CALL(msgsnd, SLEEP_OTHER)
    PYMEMRUN_CALL(mmap, SLEEP_OTHER)
    PYMEMRUN_CALL(munmap, SLEEP_OTHER)
    PYMEMRUN_CALL(mprotect, SLEEP_OTHER)
    PYMEMRUN_CALL(madvise, SLEEP_OTHER)
    PYMEMRUN_CALL(mremap, SLEEP_OTHER)
    PYMEMRUN_CALL(brk, SLEEP_OTHER)
    PYMEMRUN_CALL(sched_yield, SLEEP_OTHER)
    PYMEMRUN_CALL(userfaultfd, SLEEP_OTHER)
};
#undef PYMEMRUN_CALL

// Linear in some 80 calls; one look at a thread costs two system calls anyway.
const Call* FindCall(int32_t number) {
  for (const Call& call : kCalls) {
    if (call.number == number) return &call;
  }
  return nullptr;
}

// Position of the argument with the number of descriptors, from 1 on; 0: the
// call has no such argument.
size_t DescriptorCountOf(int32_t call) {
  switch (call) {
#ifdef SYS_poll
    case SYS_select:
      return 1;
    case SYS_poll:
      return 2;
#endif
    case SYS_pselect6:
      return 1;
    case SYS_ppoll:
      return 2;
    default:
      return 0;
  }
}

// A call that waits for zero descriptors only waits for time, as time.sleep()
// of CPython 3.9 and 3.10 does. `text` as in ParseSyscall().
bool WaitsForTime(int32_t call, absl::string_view text) {
  const size_t place = DescriptorCountOf(call);
  if (place == 0) return false;
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::MaxSplits(' ', 3));
  return words.size() > place && words[place] == "0x0";
}

// The thread sleeps outside of a system call. State D or S in /proc/PID/stat is
// a page fault; T or t is a stop by a signal or a debugger.
SleepReason ReasonOutsideOfCalls(int task_fd, uint32_t thread) {
  char text[512];
  const int fd = openat(task_fd, absl::StrCat(thread, "/stat").c_str(),
                        O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));
  if (fd >= 0) close(fd);
  const absl::string_view stat(text, got < 0 ? 0 : static_cast<size_t>(got));
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos || name_end + 2 >= stat.size()) {
    return SLEEP_UNKNOWN;
  }
  const char state = stat[name_end + 2];
  return state == 'D' || state == 'S' ? SLEEP_PAGE_FAULT : SLEEP_UNKNOWN;
}

}  // namespace

// /proc/PID/syscall (proc(5)): "running", or the number of the call and its
// arguments. -1 means that the thread sleeps outside of a call.
SleepLook ParseSyscall(absl::string_view text) {
  SleepLook look;
  const absl::string_view first = text.substr(0, text.find_first_of(" \n"));
  if (!absl::SimpleAtoi(first, &look.call)) return look;  // "running"
  look.answer = SleepLook::kSleeps;
  if (look.call < 0) return look;
  const Call* const call = FindCall(look.call);
  look.reason = call == nullptr ? SLEEP_OTHER : call->reason;
  if (WaitsForTime(look.call, text)) look.reason = SLEEP_TIMER;
  return look;
}

std::string NameOfCall(int32_t number) {
  const Call* const call = FindCall(number);
  return call == nullptr ? absl::StrCat("system call ", number) : call->name;
}

// The kernel lets only those read it who may trace the process (ptrace(2)). An
// empty file or an error of another kind: the thread has ended or runs.
SleepLook LookAtSleep(int task_fd, uint32_t thread) {
  SleepLook look;
  char text[256];
  const int fd = openat(task_fd, absl::StrCat(thread, "/syscall").c_str(),
                        O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text));
  const int why = errno;
  if (fd >= 0) close(fd);
  if (got <= 0) {
    const bool refused = got < 0 && (why == EACCES || why == EPERM);
    look.answer = refused ? SleepLook::kRefused : SleepLook::kAwake;
    return look;
  }
  look = ParseSyscall({text, static_cast<size_t>(got)});
  if (look.answer == SleepLook::kSleeps && look.call < 0) {
    look.reason = ReasonOutsideOfCalls(task_fd, thread);
  }
  return look;
}

}  // namespace pymemrun
