// What hooks read and write, and what their slow halves keep. There is one of
// the process, in a page that a forked child finds zeroed (MADV_WIPEONFORK),
// whatever way the child was made: so `page` is null there, and every hook
// returns at its first test. Tests make others.
#ifndef PYMEMRUN_TRACER_BASE_HOT_STATE_H_
#define PYMEMRUN_TRACER_BASE_HOT_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/own_page.h"
#include "tracer/base/slow_state.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// At most this many CPUs' fault counters are watched at each event.
inline constexpr uint32_t kMaxHeads = 64;

// Bit of a value of RSS in pages: it is an estimate, not statm's figure. So RSS
// is below 8 TiB, in pages of 4 KiB.
inline constexpr uint32_t kRssEstimated = 1u << 31;
inline int32_t RssPages(uint32_t value) {
  return static_cast<int32_t>(value & ~kRssEstimated);
}

struct OpenCall;
struct RawEvent;
struct RecentSites;

// In groups of whole cache lines, by who writes them. All but the last group is
// written under the GIL.
struct HotState {
  // --- Read at every event. Written when a sign of RSS has moved, when the
  // thread changes, and at the ring's stops; most of it once.

  // First word: null while not tracing.
  ControlPage* page;
  EventSlot* ring;
  uint64_t limit;  // slots [head, limit) may be written without the slow path

  // What must be unchanged for RSS to be unchanged.
  uint64_t deadline;      // time stamp after which statm is read anyway
  uint64_t heads_sum;     // sum of *heads[i] at the last read
  void* const* brk_word;  // libc's idea of the break
  void* brk_seen;
  uint32_t unmaps_seen, head_count;
  const RecentSites* recent;
  // Frame whose RETURN ends the user's code begun under runpy, or null; and the
  // code that it runs.
  const void* root_frame;
  const void* root_code;

  // What an event's row, or its place in the history, is made of.
  RawEvent* history;      // ring of the last events as the hook saw them
  uint32_t history_mask;  // its slots - 1
  uint32_t rss_pages;     // the gauge's current value, see kRssEstimated
  uint32_t current_thread;
  uint32_t kinds;      // a filter, resolved to what the hook compares
  uint32_t ring_mask;  // its slots - 1
  bool thread_passes;  // the current thread passes --thread
  // Whether an event without a change of RSS may be logged, after the last that
  // took the slow half.
  bool quiet_may_pass;
  bool time_is_tsc;
  // How many want the interpreter's events, ours among them. Only where they
  // come from sys.monitoring.
  const intptr_t* event_users;
  OpenCall* open_calls;  // with --min-call-drss; else null
  uint32_t min_call_pages;

  // --- Written at every event that the hooks log.

  alignas(64) uint64_t head;  // the ring's next slot
  // The state that the rows in the ring stand on.
  uint64_t row_number;  // number of the last row put into the ring
  uint64_t row_tsc;     // full time stamp that the next tsc_low is taken from
  uint32_t row_thread;
  uint32_t heap_since_clock;  // heap events since the last that stated its time
  // Last code object looked up: most events repeat it.
  const void* last_code;
  uint32_t last_code_id, last_code_flags;
  // The function object of the last C_CALL, alive until its C_RETURN, or null.
  const void* last_function;
  uint32_t last_function_id, last_function_flags;
  // What it was called with first: a method descriptor, which stands for the
  // methods of many types, is known by both. Only with sys.monitoring.
  const void* last_argument;
  LastStack last_stack;

  // --- Read and written by slow halves alone.

  alignas(64) uint64_t staleness;  // 50 us in time stamp units
  uint64_t rows_offered;           // to PutRow
  RowLoss loss;
  RingStall stall;
  uint32_t row_rss_pages;
  uint32_t min_drss_pages;    // 0: every event
  uint32_t logged_rss_pages;  // RSS at the last logged event
  uint32_t page_bytes;
  uint32_t context;  // previous events kept with a logged one
  bool any_row;      // row_number is one
  bool drss_since_logged;
  bool logs_stacks;
  HookParts parts;

  // --- The fault counters, which the kernel writes; the first two pointers are
  // never null while there are events.

  alignas(64) const volatile uint64_t* heads[kMaxHeads];
  // Where there are too many to read them all at each event: the counter of the
  // CPU on which the signs were last taken in, and what each counter showed.
  ptrdiff_t cpu_offset;  // from the thread pointer to the number of the CPU
                         // that the thread runs on; 0: all are read
  uint32_t seen_cpu;
  const volatile uint64_t* own_head;
  uint64_t own_head_seen;
  uint64_t heads_seen[kMaxHeads];

  // --- Written by any thread, without the GIL.

  // Unmapping calls so far.
  alignas(64) std::atomic<uint32_t> unmaps;
};

// Pages of their own. g_hot is wiped in forked children.
struct alignas(kOwnPage) HotPage {
  HotState state;
  char fill[kOwnPage - sizeof(HotState)];
};
static_assert(sizeof(HotPage) == kOwnPage);

extern HotPage g_hot_page;

inline HotState& Hot() { return g_hot_page.state; }

// The number that the next event will have. It is counted where the collector
// finds it whatever way the process ends. REQUIRES: hot.page is not null.
inline uint64_t NextNumber(const HotState& hot) {
  return hot.page->next_number.load(std::memory_order_relaxed);
}

// This thread's id in the run file; 0 until its first event. Trivially
// destructible and in the executable's own TLS block: no call to reach it.
extern constinit thread_local uint32_t t_thread_id;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_HOT_STATE_H_
