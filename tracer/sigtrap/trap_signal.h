// SIGTRAP, by which the kernel tells a thread of its page faults, shared with
// the program: the signal is ours, while the program sees the action, the mask
// and the pending signals that it would have without us. What it sets is
// *virtual*: kept here, and acted out when a SIGTRAP comes that is not a page
// signal. The interposed functions (tracer/interposed_signals.cc) read and
// write it.
//
// In a child, whatever way it was made, no page signals come; there everything
// virtual is made real, before the first of these functions does anything.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_SIGNAL_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_SIGNAL_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace pymemrun {

// What our perf events have as sig_data: a page signal is a SIGTRAP of the code
// TRAP_PERF with this.
inline constexpr uint64_t kPagePerfData = 0x70796d6d;

// si_code of a signal that a perf event sends; older headers lack the name.
inline constexpr int kTrapPerf = 6;

// Of siginfo_t, by the kernel's ABI for 64-bit processes; older headers lack
// the fields.
inline constexpr size_t kPerfDataOffset = 24;
inline constexpr size_t kPerfFlagsOffset = 36;
static_assert(sizeof(void*) == 8);

class TrapSignal {
 public:
  // Called on the thread that took the fault, with SIGTRAP blocked and errno
  // kept. Async-signal-safe; allocates nothing.
  using FaultFunction = void(const siginfo_t* info, void* context);

  // From here on page signals go to `on_fault`. What SIGTRAP did before is the
  // program's virtual action, and whether it was blocked its virtual mask.
  // Returns false, errno set, and changes nothing, where it cannot be had.
  // REQUIRES: this is the process's only thread.
  static bool Own(FaultFunction* on_fault);

  // The program's action and this thread's mask become real, and all calls only
  // forward again. REQUIRES: no page signals come any more; no other thread has
  // SIGTRAP blocked.
  static void Release();

  // Whether calls may have to do more than to forward: one load.
  static bool owned() { return owned_.load(std::memory_order_relaxed); }

  // Our events send signals from here on; to be told, because an exec that
  // fails enables them again only where they were. Of any thread but at best of
  // the main one, to whom they belong: another has to wait until that does it,
  // and after a second gives up. Return whether it was done.
  static bool EnableEvents();
  static bool DisableEvents();

  // Whether the signal is a page signal. In a thread that had SIGTRAP blocked
  // in truth it comes late, see CameLate.
  static bool IsPageSignal(const siginfo_t* info) {
    uint64_t data;
    memcpy(&data, reinterpret_cast<const char*>(info) + kPerfDataOffset,
           sizeof(data));
    return info->si_code == kTrapPerf && data == kPagePerfData;
  }

  // Whether the thread has run on since the fault of this page signal.
  static bool CameLate(const siginfo_t* info) {
    uint32_t flags;
    memcpy(&flags, reinterpret_cast<const char*>(info) + kPerfFlagsOffset,
           sizeof(flags));
    return (flags & 1) != 0;  // TRAP_PERF_FLAG_ASYNC
  }

 private:
  friend class TrapState;
  static std::atomic<bool> owned_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SIGTRAP_TRAP_SIGNAL_H_
