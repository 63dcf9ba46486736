#include "tracer/sigtrap/trap_pending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>

#include "tracer/sigtrap/kernel_signals.h"

namespace pymemrun {
namespace {

// Threads that have SIGTRAP blocked or wait for it, as `thread id | kBlocked |
// kWaiting`; 0: free. This table stands for the masks that the kernel would
// look at to choose a thread for a signal of the process. If it is full,
// g_untold is set, and OpenThread() does not guess.
constexpr uint32_t kPlaces = 256;
constexpr uint64_t kBlocked = uint64_t{1} << 32;
constexpr uint64_t kWaiting = uint64_t{1} << 33;
std::atomic<uint64_t> g_threads[kPlaces];
std::atomic<bool> g_untold;  // a thread had no free entry

std::atomic<uint32_t> g_drops;  // number of calls of DropPending()
PendingTrap g_of_process;

struct ThreadMask {
  bool blocked;
  bool waiting;
  uint32_t place;  // 1 + index in g_threads; 0: no entry
  PendingTrap pending;
};
constinit thread_local ThreadMask t_mask = {};

// States of PendingTrap. kBusy is a lock that no caller waits for: Put() and
// Take() give up when another thread, or the interrupted code of their own
// thread, is at work.
constexpr uint32_t kEmpty = 0, kBusy = 1, kFull = 2;

// Whether an entry belongs to a thread that has ended. Threads do not remove
// their entries.
bool IsOfNoThread(uint64_t place) {
  const pid_t thread = static_cast<pid_t>(place);
  return syscall(SYS_tgkill, getpid(), thread, 0) != 0 && errno == ESRCH;
}

// Returns 1 + the index of a new entry, or 0. First looks for a free entry,
// then for one of an ended thread, which takes a system call each.
uint32_t FreePlace() {
  for (const bool look_closer : {false, true}) {
    for (uint32_t i = 0; i < kPlaces; ++i) {
      uint64_t seen = g_threads[i].load(std::memory_order_relaxed);
      if (seen != 0 && !(look_closer && IsOfNoThread(seen))) continue;
      if (g_threads[i].compare_exchange_strong(seen, kBlocked)) return i + 1;
    }
  }
  g_untold.store(true);
  return 0;
}

// Returns a thread that waits for the signal, other than the caller, or 0.
pid_t Waiter(pid_t self) {
  for (const std::atomic<uint64_t>& thread : g_threads) {
    const uint64_t seen = thread.load();
    const pid_t number = static_cast<pid_t>(seen);
    if ((seen & kWaiting) != 0 && number != self) return number;
  }
  return 0;
}

bool HasItBlocked(pid_t number) {
  for (const std::atomic<uint64_t>& thread : g_threads) {
    const uint64_t seen = thread.load();
    if ((seen & kBlocked) != 0 && static_cast<pid_t>(seen) == number) {
      return true;
    }
  }
  return false;
}

// Returns the number in a name, or 0 for other names.
pid_t Number(const char* name) {
  pid_t number = 0;
  for (; *name >= '0' && *name <= '9'; ++name)
    number = number * 10 + *name - '0';
  return *name == '\0' ? number : 0;
}

// Returns a thread in `entries` of /proc/self/task that has the signal
// unblocked, or 0.
pid_t OpenAmong(const char* entries, int64_t bytes, pid_t self) {
  for (int64_t at = 0; at < bytes;) {
    const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
    const pid_t number = Number(entry->d_name);
    if (number != 0 && number != self && !HasItBlocked(number)) return number;
    at += entry->d_reclen;
  }
  return 0;
}

// Returns a thread that has the signal unblocked, or 0. Reads the directory by
// system calls: opendir() allocates, and is not async-signal-safe.
pid_t OpenThread(pid_t self) {
  if (g_untold.load()) return 0;
  const int folder =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/task",
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (folder < 0) return 0;
  alignas(dirent64) char entries[1024];
  pid_t found = 0;
  int64_t bytes;
  while (found == 0 && (bytes = syscall(SYS_getdents64, folder, entries,
                                        sizeof(entries))) > 0) {
    found = OpenAmong(entries, bytes, self);
  }
  syscall(SYS_close, folder);
  return found;
}

// A nudge: tells a thread that a signal for the process can be taken. The
// signal itself cannot be forwarded: the kernel lets a thread send such a
// siginfo only to itself.
siginfo_t Nudge() {
  siginfo_t nudge = {};
  nudge.si_signo = SIGTRAP;
  nudge.si_code = SI_QUEUE;
  nudge.si_pid = getpid();
  nudge.si_value.sival_ptr = &g_of_process;
  return nudge;
}

}  // namespace

// si_code above 0 comes from the kernel, for the thread that caused it
// (sigaction(2)).
bool IsForThread(const siginfo_t& info) {
  return info.si_code == SI_TKILL || info.si_code > 0;
}

// A signal whose age_ is not g_drops was dropped. So DropPending() is one
// addition, and needs no list of the signals of all threads.
void PendingTrap::Put(const siginfo_t& info) {
  uint32_t seen = state_.load(std::memory_order_acquire);
  if (seen == kBusy || any()) return;
  if (!state_.compare_exchange_strong(seen, kBusy)) return;
  info_ = info;
  age_ = g_drops.load(std::memory_order_relaxed);
  state_.store(kFull);
}

bool PendingTrap::Take(siginfo_t* info) {
  uint32_t full = kFull;
  if (!any() || !state_.compare_exchange_strong(full, kBusy)) return false;
  *info = info_;
  state_.store(kEmpty);
  return true;
}

bool PendingTrap::any() const {
  return state_.load() == kFull &&
         age_ == g_drops.load(std::memory_order_relaxed);
}

bool TrapMask::blocked() { return t_mask.blocked; }

// Updates the entry of this thread in g_threads.
void TrapMask::Tell() {
  ThreadMask& mask = t_mask;
  const bool anything = mask.blocked || mask.waiting;
  if (mask.place == 0 && anything) mask.place = FreePlace();
  if (mask.place == 0) return;
  const uint64_t standing =
      (mask.blocked ? kBlocked : 0) | (mask.waiting ? kWaiting : 0);
  g_threads[mask.place - 1].store(
      anything ? standing | static_cast<uint32_t>(ThreadNumber()) : 0);
  if (!anything) mask.place = 0;
}

void TrapMask::SetOnly(bool blocked) {
  if (t_mask.blocked == blocked) return;
  t_mask.blocked = blocked;
  Tell();
}

void TrapMask::Set(bool blocked) {
  SetOnly(blocked);
  siginfo_t info;
  if (blocked) return;
  while (Take(&info)) SendTrapToSelf(info);
}

void TrapMask::SetWaiting(bool waiting) {
  t_mask.waiting = waiting;
  Tell();
}

// Nudges a thread that can take the pending signal of the process. At most
// eight tries, because the chosen thread may have ended.
void TrapMask::Offer() {
  const pid_t self = ThreadNumber();
  for (int tries = 0; tries < 8 && g_of_process.any(); ++tries) {
    pid_t taker = Waiter(self);
    if (taker == 0) taker = OpenThread(self);
    if (taker == 0 || SendTrapTo(taker, Nudge())) return;
    // That thread has ended.
  }
}

bool TrapMask::IsNudge(const siginfo_t& info) {
  return info.si_code == SI_QUEUE && info.si_value.sival_ptr == &g_of_process;
}

void TrapMask::Keep(const siginfo_t& info) {
  if (IsNudge(info)) return Offer();
  if (IsForThread(info)) return t_mask.pending.Put(info);
  // The signal is stored before a thread is chosen. A thread that unblocks
  // SIGTRAP publishes that in g_threads and then looks for pending signals. So
  // either it is found here, or it finds the signal.
  g_of_process.Put(info);
  Offer();
}

bool TrapMask::Take(siginfo_t* info) {
  return t_mask.pending.Take(info) || g_of_process.Take(info);
}

bool TrapMask::TakeOfProcess(siginfo_t* info) {
  return g_of_process.Take(info);
}

bool TrapMask::pending() { return t_mask.pending.any() || g_of_process.any(); }

void TrapMask::DropPending() { g_drops.fetch_add(1); }

void TrapMask::Forget() {
  t_mask.blocked = t_mask.waiting = false;
  t_mask.place = 0;
  t_mask.pending.Clear();
  g_of_process.Clear();
  for (std::atomic<uint64_t>& thread : g_threads) thread.store(0);
}

}  // namespace pymemrun
