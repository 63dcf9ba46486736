// The launch text: facts of the run that the launcher passes to the collector,
// and the header made from them.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_LAUNCH_TEXT_H_
#define PYMEMRUN_COLLECTOR_PROCESS_LAUNCH_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "collector/process/dump_orders.h"
#include "format/trace.pb.h"
#include "tracer/wire/ring_layout.h"
#include "tracer/wire/trace_set.h"

namespace pymemrun {

struct LaunchText {
  Header header;            // fields that the launcher knows
  std::string output;       // the run file's path, for messages
  std::string children;     // paths of children's run files; * for the pid
  bool follow_all = false;  // started programs are traced, too
  // The environment given to the process has a tracer, so programs that it
  // starts are traced.
  bool traces_started = false;
  std::string reporter;       // path of pymemreport; empty: no end report
  HeapRates heap_rates;       // at the start of the run
  int compress_level = 1;     // of zstd, or kNoCompression
  bool store_source = false;  // store the text of source lines
  TraceSet traces;            // without calls: see header.calls_off()
  uint32_t page_counters = 0;
  uint32_t page_signals = 0;
  uint64_t gil_min_wait_ns = 0;
  uint32_t state_events = 0;  // 0: schedstat; states_reason says why
  std::string states_reason;
  DumpWishes dumps;
  uint64_t counters_every_ms = 0;  // interval
  // Both clocks at an earlier time, measured by a parent of a forked child. 0:
  // unknown.
  uint64_t earlier_tsc = 0;
  uint64_t earlier_monotonic_ns = 0;
};

// Parses the launch text (see collector_start.h). Skips unknown keys and lines
// without `key=value`. An invalid number counts as 0.
LaunchText ParseLaunchText(absl::string_view text);

// Reads and parses the launch text in the file `fd`. What cannot be read counts
// as empty.
LaunchText ReadLaunchText(int fd);

// Adds the page size, and the facts that the traced process knew when tracing
// started; nullptr: tracing never started.
void AddStartToHeader(const StartFacts* start, uint32_t page_bytes,
                      Header* header);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_LAUNCH_TEXT_H_
