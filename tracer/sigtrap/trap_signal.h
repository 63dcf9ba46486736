// SIGTRAP, shared between tracer and program. The kernel sends it to a thread
// for its page faults. The tracer owns the real signal. The program sees the
// action, the mask and the pending signals that it would have without the
// tracer. What it sets is *virtual*: stored here, and carried out when a
// SIGTRAP arrives that is not a page signal. The interposed functions
// (tracer/interpose/signals.cc) read and write it.
//
// Child processes get no page signals, however they were made. In a child all
// virtual state is made real before the first of these functions does anything
// else.
#ifndef PYMEMRUN_TRACER_SIGTRAP_TRAP_SIGNAL_H_
#define PYMEMRUN_TRACER_SIGTRAP_TRAP_SIGNAL_H_

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace pymemrun {

// sig_data of the perf events of the tracer. A page signal is a SIGTRAP with
// code TRAP_PERF and this value.
inline constexpr uint64_t kPagePerfData = 0x70796d6d;

// si_code of a signal from a perf event. Older headers lack the name.
inline constexpr int kTrapPerf = 6;

// Offsets in siginfo_t, by the kernel's ABI for 64-bit processes. Older headers
// lack the fields.
inline constexpr size_t kPerfDataOffset = 24;
inline constexpr size_t kPerfFlagsOffset = 36;
static_assert(sizeof(void*) == 8);

class TrapSignal {
 public:
  // Called on the thread that took the fault, with SIGTRAP blocked. errno is
  // saved and restored around it. Must be async-signal-safe and allocate
  // nothing.
  using FaultFunction = void(const siginfo_t* info, void* context);

  // Takes over SIGTRAP: page signals go to `on_fault`. The previous action
  // becomes the virtual action of the program, and the previous mask its
  // virtual mask. Returns false with errno set, and changes nothing, on
  // failure. REQUIRES: this is the only thread of the process.
  static bool Own(FaultFunction* on_fault);

  // Gives SIGTRAP back: the action of the program and the mask of this thread
  // become real, and all calls only forward again. REQUIRES: no more page
  // signals come, and no other thread has SIGTRAP blocked.
  static void Release();

  // Whether calls may have to do more than forward. Takes one load.
  static bool owned() { return owned_.load(std::memory_order_relaxed); }

  // Enable and disable the perf events of the tracer, and remember it: an exec
  // that fails enables them again only if they were enabled. The events belong
  // to the main thread. Another thread asks the main thread, and gives up after
  // one second. Return whether it was done.
  static bool EnableEvents();
  static bool DisableEvents();

  // Whether the signal is a page signal. On a thread that really had SIGTRAP
  // blocked it arrives late; see CameLate.
  static bool IsPageSignal(const siginfo_t* info) {
    uint64_t data;
    memcpy(&data, reinterpret_cast<const char*>(info) + kPerfDataOffset,
           sizeof(data));
    return info->si_code == kTrapPerf && data == kPagePerfData;
  }

  // Whether the thread has continued since the fault of this page signal.
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
