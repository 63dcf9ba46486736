#include "tracer/session/finalization.h"

#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/statm.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/interpose/interposed.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/ring_wait.h"
#include "tracer/ring/side_ring.h"
#include "tracer/session/counters.h"
#include "tracer/session/parts.h"

namespace pymemrun {

// Waits on the counter of scans as on the tail of a ring with room for none.
void AwaitEndScan(ControlPage* page) {
  const ReplyPage& reply = ReplyOf(page);
  RingStall& stall = Hot().stall;
  const bool began = page->start_state.load(std::memory_order_relaxed) != 0;
  if (began && reply.collector_pid.load() != 0 && !IsSilent(stall, page) &&
      WaitForRoom(page, {&reply.end_scans, 0}, 1) == RingWait::kTimedOut) {
    NoteSilence(&stall, page);  // the end need not wait as long again
  }
}

namespace {

// Called when the interpreter begins to finalise. GIL held; no other remaining
// thread gets it again.
void TellBegin() {
  Counters::End();
  ControlPage* page = Interposed::page();
  if (page == nullptr || getpid() != static_cast<pid_t>(page->traced_pid)) {
    return;
  }
  g_parts.objects.AtExit();
  page->finalize_rss_pages = Statm::ReadAnew();
  page->finalize_hwm_pages = Statm::ReadHwmPages();
  const uint64_t now_ns = MonotonicNs();
  const uint64_t position = page->head.load(std::memory_order_relaxed);
  page->finalize_ns.store(now_ns, std::memory_order_release);
  SideItem item(SideKind::kFinalize, 0);
  if (item.ok()) {
    SideHeapEvent event;
    event.time_ns = now_ns;
    event.index = position;
    item.Fill(event);
    item.Commit();
  }
  if (page->asks_pages != 0) AwaitEndScan(page);
}

}  // namespace

bool Finalization::Watch() { return PymemrunWatchFinalize(TellBegin) != 0; }

}  // namespace pymemrun
