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

struct HotState {
  // First word: null while not tracing.
  ControlPage* page;

  // Ring. Slots [head, limit) may be written without the slow path.
  EventSlot* ring;
  uint64_t head;
  uint64_t limit;

  // Numbering and the state that the rows in the ring stand on.
  uint64_t next_number;
  uint64_t row_number;  // number of the last row put into the ring
  uint64_t row_tsc;     // full time stamp that the next tsc_low is taken from
  uint32_t row_thread;
  uint32_t row_rss_pages;

  // Gauge: what must be unchanged for RSS to be unchanged.
  uint64_t deadline;   // time stamp after which statm is read anyway
  uint64_t heads_sum;  // sum of *heads[i] at the last read
  uint32_t head_count;
  uint32_t rss_pages;     // the gauge's current value
  void* const* brk_word;  // libc's idea of the break
  void* brk_seen;
  uint32_t unmaps_seen;

  // Last code object looked up: most events repeat it.
  const void* last_code;
  uint32_t last_code_id;
  uint32_t last_code_flags;

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
  bool time_is_tsc;
  uint32_t history_mask;  // slots of the raw event history - 1
  uint32_t context;       // previous events kept with a logged one

  // Frame whose RETURN ends the user's code begun under runpy, or null.
  const void* root_frame;

  uint64_t staleness;  // 50 us in time stamp units

  // The fault counters; the first two are never null.
  const volatile uint64_t* heads[kMaxHeads];
};

// Unmapping calls seen (interposed functions, any thread, no GIL). Its own
// cache line: the hook only reads it.
struct alignas(64) SharedSigns {
  std::atomic<uint32_t> unmaps;
};

// Pages of their own. g_hot is wiped in forked children.
struct alignas(4096) HotPage {
  HotState state;
  char fill[4096 - sizeof(HotState)];
};
static_assert(sizeof(HotPage) == 4096);

extern HotPage g_hot_page;
extern SharedSigns g_signs;

inline HotState& Hot() { return g_hot_page.state; }

// This thread's id in the run file; 0 until its first event. Trivially
// destructible and in the executable's own TLS block: no call to reach it.
extern constinit thread_local uint32_t t_thread_id;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HOT_STATE_H_
