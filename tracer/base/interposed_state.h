// State shared by the interposed functions: whether the calling process is the
// traced one. next_function.h has the way to libc's own functions.
#ifndef PYMEMRUN_TRACER_BASE_INTERPOSED_STATE_H_
#define PYMEMRUN_TRACER_BASE_INTERPOSED_STATE_H_

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

#include "tracer/base/hot_state.h"
#include "tracer/base/next_function.h"
#include "tracer/base/own_page.h"
#include "tracer/wire/ring_layout.h"

// Marks a function that replaces the one of libc. Exported by name
// (launcher/interposed_symbols.txt).
#define PYMEMRUN_INTERPOSE \
  extern "C" __attribute__((visibility("default"), used))

namespace pymemrun {

// In a separate page that a forked child finds zeroed. Comparing pids is not
// enough, because a child in another PID namespace may have the same pid.
struct alignas(kOwnPage) InterposedState {
  std::atomic<ControlPage*> page;  // null: forward calls and do nothing else
  pid_t pid;
};
extern InterposedState g_interposed;

// Returns the control page in the traced process, otherwise null: only forward
// the call. Async-signal-safe.
inline ControlPage* TracedPage() {
  ControlPage* page = g_interposed.page.load(std::memory_order_acquire);
  return page != nullptr && getpid() == g_interposed.pid ? page : nullptr;
}

// Notes that memory was unmapped, so the gauge reads RSS at the next event. A
// vfork child only causes one extra read.
inline void SignUnmap() {
  Hot().unmaps.fetch_add(1, std::memory_order_release);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_INTERPOSED_STATE_H_
