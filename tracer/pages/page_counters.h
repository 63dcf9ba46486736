// The perf events that say when a page comes, of this process and all its later
// threads. Each fault becomes a sample in a buffer that the collector maps; one
// in `period` also a SIGTRAP on the thread that took it, for its stack.
#ifndef PYMEMRUN_TRACER_PAGES_PAGE_COUNTERS_H_
#define PYMEMRUN_TRACER_PAGES_PAGE_COUNTERS_H_

#include <cstddef>
#include <cstdint>

namespace pymemrun {

// One fault in `faults` sends a signal; with `is_least` all do while the
// collector finds that they are few.
struct PagePeriod {
  uint32_t faults;
  bool is_least;
};

struct PageCounters {
  static constexpr uint32_t kMostCpus = 256;
  // Close-on-exec. First one for each CPU that samples. With a period of 1
  // these send the signals, too; else as many follow that do, or, where the
  // collector is to choose, as many that signal each fault and as many with the
  // period.
  int fds[3 * kMostCpus];
  uint32_t count = 0;
  uint32_t samplers = 0;  // of these
  // Only faults of the program's own instructions, not those that the kernel
  // takes on its behalf: an ordinary user's share of perf.
  bool user_only = false;
};

// Opens them for the calling thread and what it will start, not counting yet,
// and sees that a fault is signalled, for which it takes some. They count from
// when they are enabled on, for as long as a descriptor or a mapping of one is
// left in any process. Returns false with the reason, one line that says what
// would help. REQUIRES: one thread; SIGTRAP is ours.
bool OpenPageCounters(const PagePeriod& period, PageCounters* counters,
                      char* reason, size_t size);
void ClosePageCounters(PageCounters* counters);

// The samplers alone, while their descriptors are open: pages are counted, and,
// where others send the signals, none is signalled.
void EnablePageSamplers(const PageCounters& counters);
// Of the thread that opened them, for all threads; async-signal-safe.
void EnablePageCounters();
void DisablePageCounters();

// Told by the SIGTRAP handler: a fault at `address` was signalled.
void PageCountersSaw(const void* address);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_PAGE_COUNTERS_H_
