// What the interposed functions share: whether the calling process is the one
// that is traced. (The way to libc's own functions is in next_function.h.)
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

// Exported by name (launcher/interposed_symbols.txt).
#define PYMEMRUN_INTERPOSE \
  extern "C" __attribute__((visibility("default"), used))

namespace pymemrun {

// A page of its own, which a forked child finds zeroed: the number alone does
// not tell, for a child in another PID namespace may have ours.
struct alignas(kOwnPage) InterposedState {
  std::atomic<ControlPage*> page;  // null: only forward
  pid_t pid;
};
extern InterposedState g_interposed;

// The traced process's page, or null when only to forward. Async-signal-safe.
inline ControlPage* TracedPage() {
  ControlPage* page = g_interposed.page.load(std::memory_order_acquire);
  return page != nullptr && getpid() == g_interposed.pid ? page : nullptr;
}

// An unmapping call has been made: the gauge must look. A vfork child would
// only cause one read too many.
inline void SignUnmap() {
  Hot().unmaps.fetch_add(1, std::memory_order_release);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_INTERPOSED_STATE_H_
