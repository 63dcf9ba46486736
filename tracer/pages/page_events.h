// Page events (--trace pages): which stack a page came by, and which pages
// leave by calls of the program's. What the kernel's samples do not say.
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
  // Makes SIGTRAP ours and opens the perf events. Returns false with the
  // reason; then nothing has changed. REQUIRES: one thread.
  static bool Open(const PagePeriod& period, PageCounters* counters,
                   char* reason, size_t size);
  // Events come from here on; `counters` are still open. REQUIRES: the side
  // ring is open.
  static void Start(const PageCounters& counters);
  // So do the stacks of some. Before the program's own code there are none.
  static void StartStacks();
  // None comes any more. Any thread.
  static void Stop();
  // Not in a forked child.
  static bool on() {
    return started_.load(std::memory_order_relaxed) &&
           SideRing::page() != nullptr;
  }
  // Whether pages that the kernel fills are told by nobody but the calls that
  // make it do so.
  static bool wants_input() { return wants_input_ && on(); }

  // The moment at which pages leave or move is taken before the call that does
  // it, for their addresses may be another's at once. CLOCK_MONOTONIC, ns.
  static uint64_t Now();
  // Pages [address, address + bytes) came, left or moved to `to` by a call that
  // began at `time_ns`. As for the kernel, the last page counts whole. The
  // first one does if it came. Any thread.
  static void Range(RangeAction action, uint64_t time_ns, const void* address,
                    size_t bytes, const void* to = nullptr);
  // A child was forked; 0: its number is not known. Told where there are only
  // heap events, too.
  static void Forked(pid_t child);
  // The program has asked for huge pages at `address`. Few faults bring much
  // there, and may all go without a signal: this tells where the thread was.
  static void AskedForHuge(const void* address);

 private:
  static void OnFault(const siginfo_t* info, void* context);
  static bool IsFarThere(const void* address);
  // The kernel may give huge pages from here on.
  static void MayBeHuge() { may_be_huge_ = true; }

  static std::atomic<bool> started_;
  static bool wants_input_;
  static std::atomic<bool> may_be_huge_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_PAGE_EVENTS_H_
