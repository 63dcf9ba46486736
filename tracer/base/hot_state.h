// State of the hooks and of their slow paths. The process has one, in a page
// that every forked child finds zeroed (MADV_WIPEONFORK), however the child was
// made. So in a child `page` is null, and every hook returns at its first test.
// Tests make others.
#ifndef PYMEMRUN_TRACER_BASE_HOT_STATE_H_
#define PYMEMRUN_TRACER_BASE_HOT_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/own_page.h"
#include "tracer/base/slow_state.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Most CPUs whose fault counters are checked at each event.
inline constexpr uint32_t kMaxHeads = 64;

// Bit in an RSS value in pages: the value is an estimate and not from statm. So
// RSS must be below 8 TiB with pages of 4 KiB.
inline constexpr uint32_t kRssEstimated = 1u << 31;
inline int32_t RssPages(uint32_t value) {
  return static_cast<int32_t>(value & ~kRssEstimated);
}

struct OpenCall;
struct RawEvent;
struct RecentSites;

// Fields are grouped by writer into whole cache lines. The GIL is held when any
// group but the last is written. Times are time stamps.
struct HotState {
  // --- These fields are read at every event and rarely written: when RSS may
  // have changed, when the thread changes, and where the ring needs attention.
  // Most are written only once.

  // Null while not tracing. The first word, because hooks test it first.
  ControlPage* page;
  EventSlot* ring;
  uint64_t limit;  // slots [head, limit) may be written without the slow path

  // If all of these are unchanged, RSS is unchanged.
  uint64_t deadline;      // read statm at the latest after this time
  uint64_t heads_sum;     // sum of *heads[i] at the last read
  void* const* brk_word;  // where libc keeps the end of its heap (brk)
  void* brk_seen;
  uint32_t unmaps_seen, head_count;
  const RecentSites* recent;
  // Frame whose RETURN ends the user's code, if that was started by runpy, and
  // the code object of this frame. Otherwise null.
  const void* root_frame;
  const void* root_code;

  // Inputs for the row of an event, or for its entry in the history.
  RawEvent* history;      // ring buffer of the last events
  uint32_t history_mask;  // its slots - 1
  uint32_t rss_pages;     // the gauge's current value, see kRssEstimated
  uint32_t current_thread;
  uint32_t kinds;      // of events to log: bit 1 << EventWhat
  uint32_t ring_mask;  // its slots - 1
  bool thread_passes;  // the current thread passes --thread
  // Whether an event without a change of RSS may be logged, as of the last
  // event on the slow path.
  bool quiet_may_pass;
  bool time_is_tsc;
  // Number of users of interpreter events, including this tracer. Only with
  // sys.monitoring.
  const intptr_t* event_users;
  OpenCall* open_calls;  // with --min-call-drss; else null
  uint32_t min_call_pages;

  // --- Written at every event that the hooks log.

  alignas(64) uint64_t head;  // the ring's next slot
  // State that the next row in the ring is relative to.
  uint64_t row_number;  // number of the last row put into the ring
  uint64_t row_tsc;     // full time stamp that the next tsc_low is taken from
  uint32_t row_thread;
  uint32_t heap_since_clock;  // heap events since the last kClock
  // Last code object that was looked up: most events repeat it.
  const void* last_code;
  uint32_t last_code_id, last_code_flags;
  // Function object of the last C_CALL, alive until its C_RETURN, or null.
  const void* last_function;
  uint32_t last_function_id, last_function_flags;
  // First argument of that call. A method descriptor stands for the methods of
  // many types, so both are compared. Only with sys.monitoring.
  const void* last_argument;
  LastStack last_stack;

  // --- Read and written only on slow paths.

  alignas(64) uint64_t staleness;  // 50 us in time stamp units
  uint64_t rows_offered;           // calls of PutRow
  RowLoss loss;
  RingStall stall;
  uint32_t row_rss_pages;
  uint32_t min_drss_pages;    // 0: every event
  uint32_t logged_rss_pages;  // RSS at the last logged event
  uint32_t page_bytes;
  uint32_t context;  // events kept before a logged one
  bool any_row;      // row_number is valid
  bool drss_since_logged;
  bool logs_stacks;
  HookParts parts;

  // --- Pointers to the counters of page faults, which the kernel writes.
  // heads[0] and heads[1] are never null while events are traced.

  alignas(64) const volatile uint64_t* heads[kMaxHeads];

  // The rest is used only where there are too many counters to read at each
  // event.

  // Offset of the CPU number of a thread from its thread pointer; 0: all
  // counters are read.
  ptrdiff_t cpu_offset;
  uint32_t seen_cpu;                  // the CPU on which RSS was last checked
  const volatile uint64_t* own_head;  // the counter of that CPU
  uint64_t own_head_seen;             // its value at that check
  uint64_t heads_seen[kMaxHeads];     // the value of each counter then

  // --- Written by any thread, without the GIL.

  // Number of calls that unmapped memory.
  alignas(64) std::atomic<uint32_t> unmaps;
};

// A whole page, so that MADV_WIPEONFORK affects nothing else.
struct alignas(kOwnPage) HotPage {
  HotState state;
  char fill[kOwnPage - sizeof(HotState)];
};
static_assert(sizeof(HotPage) == kOwnPage);

extern HotPage g_hot_page;

inline HotState& Hot() { return g_hot_page.state; }

// Number of the next event. It is counted in the control page, where the
// collector finds it however the process ends. REQUIRES: hot.page is not null.
inline uint64_t NextNumber(const HotState& hot) {
  return hot.page->next_number.load(std::memory_order_relaxed);
}

// Id of this thread in the run file; 0 until its first event. Trivially
// destructible and in the TLS block of the executable, so access needs no call.
extern constinit thread_local uint32_t t_thread_id;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_HOT_STATE_H_
