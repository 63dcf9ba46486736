// Perf events for page faults of this process and all its later threads. Each
// fault is a sample in a buffer that the collector maps. One in `period` also
// sends SIGTRAP to the thread that took it, for its stack.
#ifndef PYMEMRUN_TRACER_PAGES_PAGE_COUNTERS_H_
#define PYMEMRUN_TRACER_PAGES_PAGE_COUNTERS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// One in `faults` faults sends a signal. With `is_least` all do, as long as the
// collector finds that there are few.
struct PagePeriod {
  uint32_t faults;
  bool is_least;
};

struct PageCounters {
  static constexpr uint32_t kMostCpus = 256;
  // Close-on-exec descriptors. First those that sample, one per CPU. With a
  // period of 1 these also send the signals. Otherwise as many follow that
  // signal; or, if the collector chooses, as many that signal each fault and as
  // many with the period.
  int fds[3 * kMostCpus];
  uint32_t count = 0;
  uint32_t samplers = 0;  // those that sample
  // Only faults of the program's own instructions, not those inside system
  // calls: all that perf allows ordinary users.
  bool user_only = false;
};

// Opens the events for the calling thread and all threads that it will start,
// disabled, and checks that a fault is signalled, which takes some faults. They
// count once enabled, as long as any process has a descriptor or a mapping of
// them. Returns false with a one-line reason that says what would help.
// REQUIRES: there is one thread, and the tracer owns SIGTRAP.
bool OpenPageCounters(const PagePeriod& period, PageCounters* counters,
                      char* reason, size_t size);
void ClosePageCounters(PageCounters* counters);

// Enables only the samplers, while their descriptors are open: pages are
// counted, and not signalled if other events send the signals.
void EnablePageSamplers(const PageCounters& counters);
// For all threads; call them on the thread that opened the events.
// Async-signal-safe.
void EnablePageCounters();
void DisablePageCounters();

// The SIGTRAP handler reports a signalled fault at `address`.
void PageCountersSaw(const void* address);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_PAGE_COUNTERS_H_
