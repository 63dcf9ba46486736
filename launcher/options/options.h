// What the user asked of `pymemrun`: its options, read from the command line
// and from PYMEMRUN_* variables by the option table.
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

// How the tracer comes into the interpreter.
enum class Delivery {
  kAuto,     // as the wished python allows: embedded if it can be
  kEmbed,    // the interpreter that is part of this executable runs
  kPreload,  // the wished python runs, with the tracer preloaded
};

// Where it is known from what threads do.
enum class StateSource {
  kAuto,       // switches, or schedstat where perf is refused
  kSwitches,   // the kernel records each context switch
  kSchedstat,  // the collector reads what the scheduler has counted
};

// Where it is known from which pages are resident.
enum class PageSource {
  kAuto,    // faults, or a scan where perf is refused
  kFaults,  // the kernel says when a page comes
  kScan,    // the collector asks which pages are there, time and again
};

// Which child processes are traced.
enum class Follow {
  kNone,
  kFork,  // those forked, as long as they run the same program
  kAll,   // and each CPython that the program or a child starts
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
  TraceSet traces = {Trace::kCalls, Trace::kPages};  // kHeap: `heap` says it
  uint64_t gil_min_ns = 1000000;  // waits longer than this have stacks
  StateSource state_source = StateSource::kAuto;
  uint64_t counters_every_ms = 100;
  PageSource page_source = PageSource::kAuto;
  PagePeriod page_period = {7, true};  // of their signals
  uint32_t page_weight = 1;            // one page in so many is recorded
  uint64_t min_drss_bytes = 0;         // set to one page by ReadOptions
  uint64_t min_call_drss_bytes = 0;    // 0: not asked for
  bool drss_since_logged = false;
  uint32_t context = 1;
  uint32_t kinds = 0x1f;  // bit (1 << EventWhat)
  std::vector<std::string> include, exclude, function, thread;
  bool stacks = false;
  Follow follow = Follow::kFork;
  bool paused = false;
  bool trace_startup = false;
  std::vector<std::string> import;  // modules, before tracing begins
  GaugeSource rss_source = GaugeSource::kAuto;
  bool verify_rss = false;
  OnFull on_full = OnFull::kBlock;
  int compress_level = 1;
  bool heap_given = false;  // on the command line or by a variable
  ObjectsConfig objects;    // dumps of the object graph
  HeapConfig heap = {HeapMode::kSampled, GrowingRates(), kAllHeapDomains, true};

  // Many forked children end before they have used more. Where few events leave
  // anything in the rings, less does.
  RingSizes SizesOfRings(bool forked) const {
    if (!forked) return RingSizes::kWhole;
    const bool many = (traces.has(Trace::kCalls) && min_drss_bytes == 0) ||
                      traces.has_any({Trace::kGil, Trace::kTasks}) ||
                      heap.mode == HeapMode::kAll;
    return many ? RingSizes::kSmall : RingSizes::kSmallest;
  }
};

// Reads one environment variable: its text, or nullptr.
using Environment = std::function<const char*(const char* name)>;

// Splits argv and reads our options; those not given are taken from the
// variable PYMEMRUN_<NAME> (upper case, - as _; repeatable ones: several,
// separated by `:`). Returns true, or false with one line in *error (a usage
// error: exit 2).
bool ReadOptions(int argc, const char* const* argv,
                 const Environment& environment, Options* options,
                 CommandLine* command_line, std::string* error);

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_OPTIONS_OPTIONS_H_
