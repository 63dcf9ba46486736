// The control page: everything the traced process tells the collector outside
// the event stream. The traced process writes it, the collector only reads it.
// ring_layout.h describes the whole wire.
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

// Current holders of GILs and current steps of tasks. They are in the control
// page so that the collector can read them however the program ends.

// Number of GILs recorded at a time. The first is the main interpreter's.
// Further GILs are not recorded.
inline constexpr uint32_t kMaxGils = 8;

// Current state of a GIL: the thread that took it last, and what that thread
// has done since. Written by the thread that holds the interpreter's own mutex
// of this GIL, so there is one writer at a time. Times are time stamps
// (StartFacts::time_is_tsc).
struct GilHold {
  std::atomic<uint64_t> gil;         // 1 + its interpreter's number; 0: unused
  std::atomic<uint32_t> thread;      // Linux thread id; 0: never taken
  std::atomic<uint32_t> waiting;     // number of threads that wait
  std::atomic<uint64_t> free_since;  // 0: `thread` holds it
  // How often, and for how long in total, the thread released the GIL and took
  // it again without another thread in between.
  std::atomic<uint64_t> pauses;
  std::atomic<uint64_t> paused;
  // Start of the current wait of other threads for this thread; valid while
  // `waiting` is not 0.
  std::atomic<uint64_t> kept_since;
  uint64_t unused[2];
};
static_assert(sizeof(GilHold) == 64);

// Number of threads whose current step is recorded. A step in a further thread
// is known only once it has ended.
inline constexpr uint32_t kMaxTasksNow = 8;

// A step of a task that is running now. Written under the GIL. Times are time
// stamps (StartFacts::time_is_tsc).
struct TaskNow {
  std::atomic<uint64_t> task;  // address of the task
  std::atomic<uint64_t> since;
  std::atomic<uint32_t> thread;  // Linux thread id; 0: this entry is free
  uint32_t unused;
};
static_assert(sizeof(TaskNow) == 24);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

inline constexpr size_t kControlBytes = 8192;

// Reason why tracing ended, if the traced process could tell it.
enum class EndReason : uint32_t {
  kUnknown = 0,  // no handler ran: killed, _exit() or abort()
  kExit = 1,     // exit() with end.exit_status
  kExec = 2,
  kSignal = 3,  // about to die by signal end.exit_status
};

// What a producer does when a ring is full: wait, or drop the event.
enum class OnFull : uint32_t { kBlock = 0, kDrop = 1 };

// Facts that the traced process knows when tracing starts.
struct StartFacts {
  GaugeSource rss_source;
  uint32_t statm_step_pages;  // smallest change that statm showed; 0 unmeasured
  uint32_t time_is_tsc;       // 1: stamps are TSC; 0: CLOCK_MONOTONIC in ns
  uint32_t hears_gc_runs;     // 1: the cycle collector's runs are recorded
  uint32_t free_threaded;     // 1: the interpreter has no GIL
  uint64_t tsc;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t own_bytes;
  uint64_t first_rss_bytes, since_fork_bytes;  // since_fork: in a forked child
  char rss_source_reason[248];  // why not a better source; ends with NUL
};
static_assert(sizeof(StartFacts) == 320);

// Facts that the traced process knows when it ends. Times in nanoseconds, sizes
// in bytes.
struct EndFacts {
  EndReason reason;
  int32_t exit_status;
  uint64_t monotonic_ns;
  uint64_t own_bytes;
  uint64_t hwm_bytes;
  uint64_t max_rss_bytes;   // highest RSS seen at an event
  uint64_t last_rss_bytes;  // RSS at the last event
  // Largest sizes of what the interpreter allocated only because it was
  // profiled.
  uint64_t line_array_bytes;
  uint64_t frame_object_bytes;
  uint64_t bound_object_bytes;
};
static_assert(sizeof(EndFacts) == 72);

// The first kControlBytes of the region. No cache line has two writers. The
// traced process writes plain fields before it sets `start_state` with release,
// unless their comment says otherwise.
struct ControlPage {
  // -- Written by the launcher before the collector starts.
  uint64_t magic;
  uint32_t version;  // kWireVersion
  OnFull on_full;
  // Used by the traced process only. The collector reads these facts from the
  // launch text and the kernel.
  uint32_t traced_pid;
  uint32_t page_bytes;
  // 1: after finalize_ns is set the collector scans resident pages, and the
  // traced process waits for that.
  uint32_t asks_pages;
  RingSizes rings;

  // -- Written by the traced process when tracing starts, before start_state =
  // 1 is stored with release. Until then the collector only waits.
  alignas(64) std::atomic<uint32_t> start_state;
  StartFacts start;

  // -- Written by the producer of the event ring, under the GIL.
  alignas(64) std::atomic<uint64_t> head;  // slots published (release)
  std::atomic<uint64_t> next_number;       // events seen so far
  std::atomic<uint64_t> dropped;           // rows lost on a full ring
  std::atomic<uint64_t> stalls;            // times the producer waited
  std::atomic<uint32_t> forks;             // fork() calls seen
  std::atomic<uint32_t> tables_emptied;    // of code objects or C functions
  std::atomic<uint64_t> rss_reads;         // statm reads of the gauge
  std::atomic<uint64_t> heap_dropped;      // heap events lost on a full ring
  std::atomic<uint32_t> started[2];        // programs; [1]: those with a tracer

  // -- Written by the producer with --verify-rss. trace.proto has the meanings.
  alignas(64) std::atomic<uint64_t> verified_events;  // 0: not asked for
  std::atomic<uint64_t> agreeing_events;
  std::atomic<uint64_t> worst_staleness_ns;
  std::atomic<uint64_t> worst_error_pages;
  std::atomic<uint64_t> changing_events;

  // -- Written by any thread. The futex word on which the collector sleeps;
  // each wake adds 1.
  alignas(64) std::atomic<uint32_t> wake_collector;

  // -- Written by producers of the side ring, on any thread. Producers reserve
  // cells by compare-and-swap of side_head.
  alignas(64) std::atomic<uint64_t> side_head;
  std::atomic<uint64_t> side_dropped[kSideParties];  // items dropped, by party
  std::atomic<uint32_t> side_stalls;  // times a producer waited for room

  // -- Answers to orders for an object dump.
  alignas(64) DumpAnswers dumps;
  // -- With --trace gil, and --trace tasks.
  alignas(64) GilHold gils[kMaxGils];
  alignas(64) TaskNow tasks[kMaxTasksNow];

  // -- The end. The traced process writes it before end_state = 1 is stored
  // with release.
  //
  // Time (CLOCK_MONOTONIC, ns) when the interpreter began to finalise; 0: it
  // has not. tells_finalize, set before the start, says whether this time will
  // be set.
  alignas(64) std::atomic<uint64_t> finalize_ns;
  uint32_t tells_finalize;
  // RSS and peak RSS, set before finalize_ns or before an exec; 0: not known.
  uint32_t finalize_rss_pages;
  uint64_t finalize_hwm_pages;
  alignas(64) std::atomic<uint32_t> end_state;
  std::atomic<uint32_t> exec_pending;  // an exec* call is under way
  EndFacts end;

  // Held by the main thread for its whole life. If it is released, the thread
  // is gone: so an exec by a raw system call is noticed.
  alignas(64) pthread_mutex_t alive;
};
inline constexpr size_t kChildCountsOffset = 4096;
static_assert(sizeof(ControlPage) <= kChildCountsOffset);

// Numbers of traced children, at kChildCountsOffset. Where a page is no larger
// than that, forked children share this page and the traced ones add to it.
struct ChildCounts {
  std::atomic<uint32_t> traced;  // forked from this process
  std::atomic<uint32_t> all;     // descendants, in the first process only
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
