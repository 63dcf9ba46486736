// Page events (--trace pages) from inside the program: stacks of page faults,
// and calls that release pages. The samples of the kernel have neither.
#ifndef PYMEMRUN_TRACER_PAGES_PAGE_EVENTS_H_
#define PYMEMRUN_TRACER_PAGES_PAGE_EVENTS_H_

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/pages/page_counters.h"
#include "tracer/ring/side_ring.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

class PageEvents {
 public:
  // Takes over SIGTRAP and opens the perf events. Returns false with the
  // reason, and changes nothing, on failure. REQUIRES: there is one thread.
  static bool Open(const PagePeriod& period, PageCounters* counters,
                   char* reason, size_t size);
  // Starts events; `counters` are still open. REQUIRES: the side ring is open.
  static void Start(const PageCounters& counters);
  // Starts stacks of faults. There are none before the code of the program.
  static void StartStacks();
  // Stops events. Any thread.
  static void Stop();
  // Whether events are on; false in a forked child.
  static bool on() {
    return started_.load(std::memory_order_relaxed) &&
           SideRing::page() != nullptr;
  }
  // Whether pages filled by the kernel are only known from the calls that fill
  // them.
  static bool wants_input() { return wants_input_ && on(); }

  // Current time, CLOCK_MONOTONIC in nanoseconds. Read it before a call that
  // releases or moves pages, because another thread may get their addresses at
  // once.
  static uint64_t Now();
  // Pages [address, address + bytes) became resident, were released or moved to
  // `to`, by a call that started at `time_ns`. As in the kernel, a partial last
  // page counts whole; a partial first page counts if it became resident. Any
  // thread.
  static void Range(RangeAction action, uint64_t time_ns, const void* address,
                    size_t bytes, const void* to = nullptr);
  // A child was forked; 0: its pid is not known. Also recorded if there are
  // only heap events.
  static void Forked(pid_t child);
  // The program asked for huge pages at `address`. A few faults then bring many
  // pages, perhaps all without a signal: this records the stack of the thread.
  static void AskedForHuge(const void* address);

 private:
  static void OnFault(const siginfo_t* info, void* context);
  static bool IsFarThere(const void* address);
  // The kernel may use huge pages from now on.
  static void MayBeHuge() { may_be_huge_ = true; }

  static std::atomic<bool> started_;
  static bool wants_input_;
  static std::atomic<bool> may_be_huge_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_PAGE_EVENTS_H_
