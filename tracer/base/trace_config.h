// What a run is to trace, as the launcher found it in the command line.
#ifndef PYMEMRUN_TRACER_BASE_TRACE_CONFIG_H_
#define PYMEMRUN_TRACER_BASE_TRACE_CONFIG_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tracer/base/heap_config.h"
#include "tracer/wire/ring_layout.h"
#include "tracer/wire/trace_set.h"

namespace pymemrun {

// When the object graph is dumped.
struct ObjectsConfig {
  bool at_exit = false;
  bool at_peak = false;          // of RSS
  uint64_t every_ms = 0;         // 0: not by time
  uint64_t rss_above_bytes = 0;  // once RSS is above it; 0: not by RSS
  int signal = 0;                // that asks for one; 0: none does

  // The collector of the run sees the moment, and asks by a signal.
  bool by_collector() const {
    return at_peak || every_ms != 0 || rss_above_bytes != 0;
  }
};

using Globs = std::span<const char* const>;

// What to trace. Strings and arrays must live until the process ends.
struct TraceConfig {
  // With kPages OpenPages succeeded, and kHeap is as `heap` says.
  TraceSet traces = {Trace::kCalls};
  HeapConfig heap;
  uint64_t gil_min_wait_ns = 0;  // longer waits for the GIL have stacks
  uint64_t min_drss_bytes = 0;   // 0: log every event
  bool drss_since_logged = false;
  uint64_t min_call_drss_bytes = 0;  // of RETURNs that are logged, too; 0: none
  uint32_t context = 1;    // previous events kept; at most kMaxContext
  uint32_t kinds = 0x1f;   // bit (1 << EventWhat)
  Globs include, exclude;  // by full file path
  Globs function;          // by function name
  Globs thread;            // by thread name
  bool stacks = false;
  bool paused = false;         // not armed until pymemrun.start()
  bool trace_startup = false;  // from the interpreter's `import site` on
  Globs import;                // modules that are imported before it begins
  GaugeSource rss_source = GaugeSource::kAuto;
  const char* output = nullptr;  // the run file's absolute path
  bool verify_rss = false;       // read statm beside the gauge at every event
  pid_t collector = 0;           // its process, no child of ours; 0: not known
  // For dumps of the object graph: the collector's path, and what it was told
  // at the start (collector_start.h). Null: there are none.
  const char* collector_path = nullptr;
  std::string_view launch_text = {};
  ObjectsConfig objects;
  // The folder of the Python package of our name, whose modules are those of
  // the built-in module, too. Null: it is not there.
  const char* package = nullptr;
  // Tells the user one line; null: nobody. May be called at any event.
  void (*say)(const char* line, size_t size) = nullptr;
  // A line for it once tracing has begun: what it does without. Null: nothing.
  const char* notice = nullptr;
  // Lines for it when the program calls exec and the new one has no tracer.
  const char* exec_notice = nullptr;
  // In a forked child that is about to run Python code: starts a collector for
  // it and calls Session::Prepare again, with this config. `paused`: the parent
  // was, so this child is. Returns whether that went well. GIL. Null: children
  // run untraced.
  bool (*follow)(bool paused) = nullptr;
};

inline constexpr uint32_t kMaxContext = 1024;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_TRACE_CONFIG_H_
