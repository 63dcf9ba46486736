// The tracer's state, one per process. The profile hook reads and writes it
// under the GIL; the exceptions are marked. It lies in a page that a forked
// child finds zeroed (MADV_WIPEONFORK), whatever way the child was made, so
// that `page == nullptr` there and every hook returns at its first test.
#ifndef PYMEMRUN_TRACER_HOT_STATE_H_
#define PYMEMRUN_TRACER_HOT_STATE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/ring_layout.h"

namespace pymemrun {

// At most this many CPUs' fault counters are watched at each event.
inline constexpr uint32_t kMaxHeads = 64;

// Bit of a value of RSS in pages: it is an estimate, not statm's figure. So RSS
// is below 8 TiB, in pages of 4 KiB.
inline constexpr uint32_t kRssEstimated = 1u << 31;
inline int32_t RssPages(uint32_t value) {
  return static_cast<int32_t>(value & ~kRssEstimated);
}

struct RawEvent;
struct RecentSites;

struct HotState {
  // First word: null while not tracing.
  ControlPage* page;

  // Ring. Slots [head, limit) may be written without the slow path.
  EventSlot* ring;
  uint64_t head;
  uint64_t limit;

  // The state that the rows in the ring stand on.
  uint64_t row_number;  // number of the last row put into the ring
  uint64_t row_tsc;     // full time stamp that the next tsc_low is taken from
  uint32_t row_thread;
  uint32_t row_rss_pages;

  // Gauge: what must be unchanged for RSS to be unchanged.
  uint64_t deadline;   // time stamp after which statm is read anyway
  uint64_t heads_sum;  // sum of *heads[i] at the last read
  uint32_t head_count;
  uint32_t rss_pages;     // the gauge's current value, see kRssEstimated
  void* const* brk_word;  // libc's idea of the break
  void* brk_seen;
  uint32_t unmaps_seen;
  // Unmapping calls so far. Any thread adds, without the GIL; they are rare
  // enough to share the line with what the hook reads.
  std::atomic<uint32_t> unmaps;

  // Last code object looked up: most events repeat it.
  const void* last_code;
  uint32_t last_code_id;
  uint32_t last_code_flags;
  // The function object of the last C_CALL, alive until its C_RETURN, or null.
  const void* last_function;
  uint32_t last_function_id;
  uint32_t last_function_flags;
  // What it was called with first: a method descriptor, which stands for the
  // methods of many types, is known by both. CPython 3.12 and later.
  const void* last_argument;

  const RecentSites* recent;
  RawEvent* history;      // ring of the last events as the hook saw them
  uint32_t history_mask;  // its slots - 1

  // Filters, resolved to what the hook compares.
  uint32_t min_drss_pages;  // 0: every event
  uint32_t kinds;
  uint32_t logged_rss_pages;  // RSS at the last logged event
  bool thread_passes;         // the current thread passes --thread
  bool any_row;               // row_number is one
  uint32_t current_thread;
  uint32_t page_bytes;
  bool drss_since_logged;
  bool stacks;
  // Whether an event without a change of RSS may be logged, after the last that
  // took the slow half.
  bool quiet_may_pass;
  bool time_is_tsc;
  uint32_t context;  // previous events kept with a logged one

  // Frame whose RETURN ends the user's code begun under runpy, or null.
  const void* root_frame;
  // The code that it runs, or null.
  const void* root_code;

  // How many want the interpreter's events, ours among them. CPython 3.12 and
  // later.
  const intptr_t* event_users;

  uint64_t staleness;  // 50 us in time stamp units

  // The fault counters; the first two are never null.
  const volatile uint64_t* heads[kMaxHeads];

  // Where there are too many to read them all at each event: the counter of the
  // CPU on which the signs were last taken in, and what each counter showed.
  ptrdiff_t cpu_offset;  // from the thread pointer to the number of the CPU
                         // that the thread runs on; 0: all are read
  uint32_t seen_cpu;
  const volatile uint64_t* own_head;
  uint64_t own_head_seen;
  uint64_t heads_seen[kMaxHeads];
};

// Pages of their own. g_hot is wiped in forked children.
struct alignas(4096) HotPage {
  HotState state;
  char fill[4096 - sizeof(HotState)];
};
static_assert(sizeof(HotPage) == 4096);

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

#endif  // PYMEMRUN_TRACER_HOT_STATE_H_
