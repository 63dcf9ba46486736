// The control page: what the traced process says besides the rings' stream.
#ifndef PYMEMRUN_TRACER_WIRE_CONTROL_PAGE_H_
#define PYMEMRUN_TRACER_WIRE_CONTROL_PAGE_H_

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/wire/dump_order.h"
#include "tracer/wire/gauge_source.h"
#include "tracer/wire/side_ring_layout.h"

namespace pymemrun {

// What is under way: who has each GIL, and which steps of tasks. In the control
// page, so that the collector has it however the program ends.

// How many GILs are known at a time, the first of them the main interpreter's;
// of more nothing is recorded.
inline constexpr uint32_t kMaxGils = 8;

// What is known of a GIL now: who took it last, and what that thread has done
// since. Written by who holds the interpreter's own mutex of that GIL, one at a
// time. Times are time stamps (StartFacts::time_is_tsc).
struct GilHold {
  std::atomic<uint64_t> gil;         // 1 + its interpreter's number; 0: no GIL
  std::atomic<uint32_t> thread;      // Linux thread id; 0: nobody yet
  std::atomic<uint32_t> waiting;     // so many threads wait
  std::atomic<uint64_t> free_since;  // 0: `thread` holds it
  // How often the thread let go and took it again, with no other between, and
  // for how long it was without by that.
  std::atomic<uint64_t> pauses;
  std::atomic<uint64_t> paused;
  // Since when others wait under this thread, as far as `waiting` is not 0.
  std::atomic<uint64_t> kept_since;
  uint64_t unused[2];
};
static_assert(sizeof(GilHold) == 64);

// In how many threads at a time. Of more nothing is known until a step ends.
inline constexpr uint32_t kMaxTasksNow = 8;

// A step of a task. Written under the GIL. Times are time stamps
// (StartFacts::time_is_tsc).
struct TaskNow {
  std::atomic<uint64_t> task;  // its address
  std::atomic<uint64_t> since;
  std::atomic<uint32_t> thread;  // Linux thread id; 0: no step is under way
  uint32_t unused;
};
static_assert(sizeof(TaskNow) == 24);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kControlBytes = 8192;

// Why tracing ended, as far as the traced process could say.
enum class EndReason : uint32_t {
  kUnknown = 0,  // no handler ran: killed, _exit, abort; pidfd tells when
  kExit = 1,     // exit() with end.exit_status
  kExec = 2,
  kSignal = 3,  // about to end by signal end.exit_status
};

enum class OnFull : uint32_t { kBlock = 0, kDrop = 1 };

// What the traced process knows when tracing starts.
struct StartFacts {
  GaugeSource rss_source;
  uint32_t statm_step_pages;  // smallest change that statm showed; 0 unmeasured
  uint32_t time_is_tsc;       // 1: tsc fields are TSC; 0: CLOCK_MONOTONIC ns
  uint32_t hears_gc_runs;     // 1: the cycle collector's runs are recorded
  uint32_t free_threaded;     // 1: the interpreter has no GIL
  uint64_t tsc;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t own_bytes;
  uint64_t first_rss_bytes, since_fork_bytes;  // the latter of a forked child
  char rss_source_reason[248];  // why not a better one; NUL-terminated
};
static_assert(sizeof(StartFacts) == 320);

// What it knows at its end.
struct EndFacts {
  EndReason reason;
  int32_t exit_status;
  uint64_t monotonic_ns;
  uint64_t own_bytes;
  uint64_t hwm_bytes;
  uint64_t max_rss_bytes;   // highest RSS seen at an event
  uint64_t last_rss_bytes;  // RSS at the last event
  // What profiling made the interpreter allocate, at its most.
  uint64_t line_array_bytes;
  uint64_t frame_object_bytes;
  uint64_t bound_object_bytes;
};
static_assert(sizeof(EndFacts) == 72);

// The first kControlBytes of the region. No cache line has two writers. Plain
// fields are written before `start_state` is released, or say otherwise.
struct ControlPage {
  // -- Written by the launcher before the collector starts.
  uint64_t magic;
  uint32_t version;  // kWireVersion
  OnFull on_full;
  // For the traced process; the collector asks the launch text and the system.
  uint32_t traced_pid;
  uint32_t page_bytes;
  // The collector asks what is resident when finalize_ns is set: wait for it.
  uint32_t asks_pages;
  RingSizes rings;

  // -- Written by the traced process when tracing starts, released by
  // start_state = 1. Until then the collector only waits.
  alignas(64) std::atomic<uint32_t> start_state;
  StartFacts start;

  // -- The producer's line.
  alignas(64) std::atomic<uint64_t> head;  // slots published
  std::atomic<uint64_t> next_number;       // events seen so far
  std::atomic<uint64_t> dropped;           // rows lost on a full ring
  std::atomic<uint64_t> stalls;            // times the producer waited
  std::atomic<uint32_t> forks;             // seen
  std::atomic<uint32_t> tables_emptied;    // of code objects or C functions
  std::atomic<uint64_t> rss_reads;         // statm reads of the gauge
  std::atomic<uint64_t> heap_dropped;      // heap events lost on a full ring
  std::atomic<uint32_t> started[2];  // programs; [1]: with a tracer for them

  // -- The producer's, with --verify-rss (see trace.proto).
  alignas(64) std::atomic<uint64_t> verified_events;  // 0: not asked for
  std::atomic<uint64_t> agreeing_events;
  std::atomic<uint64_t> worst_staleness_ns;
  std::atomic<uint64_t> worst_error_pages;
  std::atomic<uint64_t> changing_events;

  // -- Any thread's. A futex word, one more with each wake: the collector
  // sleeps on it.
  alignas(64) std::atomic<uint32_t> wake_collector;

  // -- The side ring's producers, any thread. side_head moves by swaps.
  alignas(64) std::atomic<uint64_t> side_head;
  std::atomic<uint64_t> side_dropped[kSideParties];  // that found no room
  std::atomic<uint32_t> side_stalls;  // how often a producer waited for room

  // -- Dumps that the collector asks for.
  alignas(64) DumpAnswers dumps;
  // -- With --trace gil, and --trace tasks.
  alignas(64) GilHold gils[kMaxGils];
  alignas(64) TaskNow tasks[kMaxTasksNow];

  // -- The end. Written by the traced process, released by end_state = 1.
  // When the interpreter began to finalise, CLOCK_MONOTONIC; 0: it has not.
  // From before the start on: whether that would be said.
  alignas(64) std::atomic<uint64_t> finalize_ns;
  uint32_t tells_finalize;
  // Then, before finalize_ns is set, or before an exec; 0: not known.
  uint32_t finalize_rss_pages;
  uint64_t finalize_hwm_pages;
  alignas(64) std::atomic<uint32_t> end_state;
  std::atomic<uint32_t> exec_pending;  // an exec* call is under way
  EndFacts end;

  // The main thread holds it for life: so an exec by a raw system call is seen.
  alignas(64) pthread_mutex_t alive;
};
inline constexpr size_t kChildCountsOffset = 4096;
static_assert(sizeof(ControlPage) <= kChildCountsOffset);

// At kChildCountsOffset, in a page that forked children share where pages are
// no larger than that: written by those that are traced.
struct ChildCounts {
  std::atomic<uint32_t> traced;  // forked from this process
  std::atomic<uint32_t> all;     // and theirs; of the first process alone
};
static_assert(kChildCountsOffset + sizeof(ChildCounts) <= kControlBytes);
inline ChildCounts* ChildCountsOf(ControlPage* page) {
  return reinterpret_cast<ChildCounts*>(reinterpret_cast<char*>(page) +
                                        kChildCountsOffset);
}
inline const ChildCounts* ChildCountsOf(const ControlPage* page) {
  return ChildCountsOf(const_cast<ControlPage*>(page));
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_CONTROL_PAGE_H_
