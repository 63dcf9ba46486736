// Options of `pymemrun`, read from the command line and from PYMEMRUN_*
// variables by the option table.
#ifndef PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_H_
#define PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launcher/options/command_line.h"
#include "tracer/base/heap_config.h"
#include "tracer/session/session.h"
#include "tracer/wire/trace_set.h"

namespace pymemrun {

// How the tracer gets into the interpreter.
enum class Delivery {
  kAuto,     // embed if the selected Python allows it
  kEmbed,    // run the built-in interpreter
  kPreload,  // run the selected Python, preload the tracer
};

// Source of thread states.
enum class StateSource {
  kAuto,       // switches, or schedstat where perf is refused
  kSwitches,   // the kernel records every context switch
  kSchedstat,  // the collector reads the scheduler's counters
};

// Source of page events.
enum class PageSource {
  kAuto,    // faults, or a scan where perf is refused
  kFaults,  // the kernel signals page faults
  kScan,    // the collector scans resident pages repeatedly
};

// Child processes to trace.
enum class Follow {
  kNone,
  kFork,  // forked children, until they call exec
  kAll,   // also each CPython that is started
};

struct Options {
  std::string output;  // as given; empty: run.pb
  bool force = false;
  bool quiet = false;
  bool help = false;
  bool help_all = false;
  bool version = false;
  bool no_argv = false;
  bool store_source = false;
  std::string python;  // --python; empty: choose
  Delivery delivery = Delivery::kAuto;
  bool trace_given = false;  // on the command line or by a variable
  TraceSet traces = {Trace::kCalls, Trace::kPages};  // kHeap: see heap
  uint64_t gil_min_ns = 1000000;                     // longer waits get stacks
  StateSource state_source = StateSource::kAuto;
  uint64_t counters_every_ms = 100;
  PageSource page_source = PageSource::kAuto;
  PagePeriod page_period = {7, true};  // of page signals
  uint32_t page_weight = 1;            // pages per recorded page
  uint64_t min_drss_bytes = 0;         // set to one page by ReadOptions
  uint64_t min_call_drss_bytes = 0;    // 0: off
  bool drss_since_logged = false;
  uint32_t context = 1;
  uint32_t kinds = 0x1f;  // bit (1 << EventWhat)
  std::vector<std::string> include, exclude, function, thread;
  bool stacks = false;
  Follow follow = Follow::kFork;
  bool paused = false;
  bool trace_startup = false;
  std::vector<std::string> import;  // modules to import first
  GaugeSource rss_source = GaugeSource::kAuto;
  bool verify_rss = false;
  OnFull on_full = OnFull::kBlock;
  int compress_level = 1;
  bool heap_given = false;  // on the command line or by a variable
  ObjectsConfig objects;    // dumps of the object graph
  HeapConfig heap = {HeapMode::kSampled, GrowingRates(), kAllHeapDomains, true};

  // Ring sizes. Many forked children end before they have used a large ring,
  // and with few kinds of event an even smaller one is enough.
  RingSizes SizesOfRings(bool forked) const {
    if (!forked) return RingSizes::kWhole;
    const bool many = (traces.has(Trace::kCalls) && min_drss_bytes == 0) ||
                      traces.has_any({Trace::kGil, Trace::kTasks}) ||
                      heap.mode == HeapMode::kAll;
    return many ? RingSizes::kSmall : RingSizes::kSmallest;
  }
};

// Returns the value of an environment variable, or nullptr.
using Environment = std::function<const char*(const char* name)>;

// Splits argv and reads the options of pymemrun. Missing ones are read from the
// variables PYMEMRUN_<NAME> (upper case, - as _; repeatable options are
// separated by `:`). Returns false with one line in *error for wrong usage
// (exit code 2).
bool ReadOptions(int argc, const char* const* argv,
                 const Environment& environment, Options* options,
                 CommandLine* command_line, std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_H_
