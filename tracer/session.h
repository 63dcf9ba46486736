// The tracer as the launcher sees it: one tracing session per process. The
// launcher makes the shared region, starts the collector on it, and calls, in
// this order:
//
//   SharedRegion::Create    before anything else of ours
//   Session::Prepare        before the first thread and before Py_Initialize*
//   (Py_InitializeFromConfig, Py_RunMain: the session arms itself at the last
//   moment before the user's code)
//   Session::Finish         from a C exit handler, or before death by SIGINT
//
// All functions are for the process's main thread. None of them throws.
#ifndef PYMEMRUN_TRACER_SESSION_H_
#define PYMEMRUN_TRACER_SESSION_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "tracer/heap_config.h"
#include "tracer/page_counters.h"
#include "tracer/ring_layout.h"

namespace pymemrun {

// What to trace. Strings and arrays must live until the process ends.
struct TraceConfig {
  bool calls = true;            // profile events
  bool pages = false;           // page events; OpenPages succeeded
  HeapConfig heap;              // heap events
  uint64_t min_drss_bytes = 0;  // 0: log every event
  bool drss_since_logged = false;
  uint32_t context = 1;   // previous events kept; at most kMaxContext
  uint32_t kinds = 0x1f;  // bit (1 << EventWhat)
  const char* const* include = nullptr;  // globs by full file path
  size_t include_count = 0;
  const char* const* exclude = nullptr;
  size_t exclude_count = 0;
  const char* const* function = nullptr;  // globs by function name
  size_t function_count = 0;
  const char* const* thread = nullptr;  // globs by thread name
  size_t thread_count = 0;
  bool stacks = false;
  bool paused = false;         // not armed until pymemrun.start()
  bool trace_startup = false;  // from the interpreter's `import site` on
  GaugeSource rss_source = GaugeSource::kAuto;
  const char* output = nullptr;  // the run file's absolute path
  bool verify_rss = false;       // read statm beside the gauge at every event
  pid_t collector = 0;           // its process, no child of ours; 0: not known
  // Tells the user one line; null: nobody. May be called at any event.
  void (*say)(const char* line, size_t size) = nullptr;
  // A line for it once tracing has begun: what it does without. Null: nothing.
  const char* notice = nullptr;
};

inline constexpr uint32_t kMaxContext = 1024;

class Session {
 public:
  // For page events, with a region that has a side ring: opens what tells of
  // page faults, with the stacks of some. Returns nullptr, or one
  // line that says why there are none.
  static const char* OpenPages(const PagePeriod& period,
                               PageCounters* counters);

  // Opens the RSS source, makes and touches the tables, registers the built-in
  // module `pymemrun` and the one-time audit hook. Returns nullptr, or one line
  // that says why the program will run untraced. `page` and `config` must stay.
  static const char* Prepare(ControlPage* page, const TraceConfig* config);

  // For a run that only counts the sizes of allocations: no file, no collector.
  static void PrepareSizes(const TraceConfig* config);
  // How the sizes are printed, when --heap stats or the script's
  // pymemrun.gather_stats() has counted some; and that it is time to.
  static void PrintSizesBy(void (*print)());
  static void FinishSizes();
  // How many allocations there were of the sizes above 2^(bin-1) up to 2^bin,
  // and of how many bytes. bin < 64.
  struct SizeCount {
    uint64_t count;
    uint64_t bytes;
  };
  static SizeCount SizesOf(uint32_t bin);

  // For a run without tracing: `import pymemrun` works, its functions do
  // nothing.
  static void PrepareUntraced();

  // Stops all hooks, tells the collector that the program ends with `status`,
  // and waits at most `timeout_ms` for it to complete the run file, less when
  // it shows no sign of life. Returns whether it did. Returns false at once in
  // a forked child and when called again. Threads may still run.
  static bool Finish(EndReason reason, int status, int timeout_ms);

  // At the end of the interpreter's finalisation: whether it goes on to end the
  // process by SIGINT, for a KeyboardInterrupt that nothing caught. Of the
  // traced process only; it may be wrong where the program ends by exit().
  static bool EndsByInterrupt();

  // After Finish returned false: whether the collector was at work all along,
  // kept by a slow disk, and goes on.
  static bool still_writing();

  // Whether the caller is in the process that Prepare prepared, and not in a
  // child of it, whatever that one's number in its own PID namespace.
  static bool InTracedProcess();

  // Whether the run turned out to go untraced after Prepare, which stderr was
  // told: Finish would only repeat it.
  static bool untraced();

  // After Finish returned false: how many rows, context included, are not in
  // the file and will not be. Where the collector is gone, all that it had not
  // written; where it may come back, those that found no room.
  static uint64_t LostRows();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_H_
