// Configuration of a run, made by the launcher from the command line.
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

// Moments of object dumps.
struct ObjectsConfig {
  bool at_exit = false;
  bool at_peak = false;          // near the highest RSS
  uint64_t every_ms = 0;         // interval; 0: off
  uint64_t rss_above_bytes = 0;  // once, when RSS exceeds it; 0: off
  int signal = 0;                // that triggers a dump; 0: off

  // Whether the collector watches for the moment, and orders the dump by a
  // signal.
  bool by_collector() const {
    return at_peak || every_ms != 0 || rss_above_bytes != 0;
  }
};

using Globs = std::span<const char* const>;

// Strings and arrays must live until the process ends. Null or 0 means: not
// used.
struct TraceConfig {
  // kPages: Session::OpenPages succeeded. kHeap: as `heap` says.
  TraceSet traces = {Trace::kCalls};
  HeapConfig heap;
  uint64_t gil_min_wait_ns = 0;  // longer waits for the GIL get stacks
  uint64_t min_drss_bytes = 0;   // 0: log every event
  bool drss_since_logged = false;
  uint64_t min_call_drss_bytes = 0;  // for RETURNs; 0: off
  uint32_t context = 1;    // events kept before each; at most kMaxContext
  uint32_t kinds = 0x1f;   // bit (1 << EventWhat)
  Globs include, exclude;  // by full file path
  Globs function;          // by function name
  Globs thread;            // by thread name
  bool stacks = false;
  bool paused = false;         // off until pymemrun.start()
  bool trace_startup = false;  // from the interpreter's `import site` on
  Globs import;                // modules imported before tracing starts
  GaugeSource rss_source = GaugeSource::kAuto;
  const char* output = nullptr;  // the run file's absolute path
  bool verify_rss = false;       // read statm beside the gauge at every event
  pid_t collector = 0;           // its pid, not a child; 0: not known
  // For object dumps: path of the collector, and the launch text of the run.
  // Null: no dumps.
  const char* collector_path = nullptr;
  std::string_view launch_text = {};
  ObjectsConfig objects;
  // Folder of the Python package `pymemrun`, which adds modules to the built-in
  // module of that name. Null: not found.
  const char* package = nullptr;
  // Prints one line for the user; null: prints nothing. May be called at any
  // event.
  void (*say)(const char* line, size_t size) = nullptr;
  // Line to print once tracing has started: what the run lacks.
  const char* notice = nullptr;
  // Lines to print when the program calls exec and the new program has no
  // tracer.
  const char* exec_notice = nullptr;
  // Called with the GIL in a forked child that is about to run Python code.
  // Starts a collector for it and calls Session::Prepare again with this
  // config. `paused`: tracing was paused in the parent. Returns whether the
  // child is traced. Null: children are not traced.
  bool (*follow)(bool paused) = nullptr;
};

inline constexpr uint32_t kMaxContext = 1024;

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_TRACE_CONFIG_H_
