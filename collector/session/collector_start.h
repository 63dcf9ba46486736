// How the launcher starts the collector: the contract of the two. The launcher
// executes `pymemrun-collector` without arguments as an orphan in a session of
// its own, with exactly these descriptors open besides /dev/null on 0, 1 and 2:
#ifndef PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_START_H_
#define PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_START_H_

namespace pymemrun {

inline constexpr int kCollectorRegionFd = 3;  // memfd: ControlPage + rings
inline constexpr int kCollectorOutputFd = 4;  // the run file, empty, writable
inline constexpr int kCollectorPidFd = 5;     // pidfd of the traced process
inline constexpr int kCollectorTextFd = 6;    // launch text, at offset 0
inline constexpr int kCollectorReplyFd = 7;   // memfd: ReplyPage
// With page events, one perf event for each CPU that has one, from here on.
// Each is sampled (PERF_SAMPLE_IP, TID, TIME on CLOCK_MONOTONIC, ADDR) and not
// mapped yet; page_counters of the launch text says how many there are. After
// these as many as page_signals says, which only send signals (as many: one
// fault in page_period; twice as many: first those that signal each fault, and
// the collector has only one half count). All count as long as the collector
// keeps them.
//
// Behind all of these, state_events perf events, one for each CPU that has one,
// that record the context switches, begins and ends of threads (with
// PERF_SAMPLE_TID, TIME on CLOCK_MONOTONIC and CPU).
inline constexpr int kCollectorPageFds = 8;

// The launch text is a sequence of NUL-terminated `key=value` strings, the
// values any bytes but NUL. Keys, each at most once unless said otherwise:
//   tool_version pid start_ticks parent_pid parent_start_ticks (decimal)
//   forked (0 or 1) python python_version host cwd kernel script
//   argv (once for each argument, in order)
//   output (path of the run file, for messages)
//   children (likewise of traced children, with a star for the pid)
//   follow_all (0 or 1: programs that the process starts are traced, too)
//   traces_started (0 or 1: the same, by whoever set the environment)
//   reporter (path of pymemreport; absent where no end report is wanted)
//   compress_level (decimal; zstd's, or kNoCompression: stored frames)
//   store_source (0 or 1)
//   min_drss_bytes min_call_drss_bytes context        (decimal)
//   drss_since_logged stacks paused  (0 or 1)
//   kinds (bit mask over What, decimal) include exclude function thread
//   (the last four any number of times)
//   page_counters page_signals page_period page_weight (decimal; absent
//   without page faults)
//   tasks (1; absent without steps of tasks)
//   state_events (decimal; absent without states of threads)
//   states_reason (why there are no such events)
//   page_scan preloaded (0 or 1) not_recorded (absent where all is)
//   pages_user_only calls_off heap_native (0 or 1)
//   objects_every_ms objects_rss_above objects_at_peak (decimal; moments at
//   which the collector asks for a dump of the objects; absent: none)
//   heap (HeapMode, decimal)
//   heap_mean_bytes (decimal; how allocations are sampled at the beginning)
//   heap_class `below_bytes:probability`, once for each, instead of it
// Unknown keys are passed over.

inline constexpr char kCollectorProgram[] = "pymemrun-collector";

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SESSION_COLLECTOR_START_H_
