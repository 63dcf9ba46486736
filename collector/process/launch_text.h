// What the launcher tells about the run, and the header made of it.
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
  Header header;            // the fields that the launcher knows
  std::string output;       // the run file's path, for messages
  std::string children;     // its children's, with a star for the number
  bool follow_all = false;  // programs that it starts are traced, too
  // The environment that the process got has a tracer, which stays there.
  bool traces_started = false;
  std::string reporter;    // pymemreport's path; empty: no end report is wanted
  HeapRates heap_rates;    // at the beginning
  int compress_level = 1;  // zstd's, or kNoCompression
  bool store_source = false;  // the text of lines, too
  TraceSet traces;  // besides calls, for which header.calls_off() stands
  uint32_t page_counters = 0;
  uint32_t page_signals = 0;
  uint64_t gil_min_wait_ns = 0;
  uint32_t state_events = 0;  // 0: by the scheduler's counts, and why
  std::string states_reason;
  DumpWishes dumps;
  uint64_t counters_every_ms = 0;  // each
  // What the clocks showed long before, by a forked child's parents. 0:
  // unknown.
  uint64_t earlier_tsc = 0;
  uint64_t earlier_monotonic_ns = 0;
};

// Reads the launch text (see collector_start.h). Passes over unknown keys and
// what is no `key=value`. A number that cannot be read is 0.
LaunchText ParseLaunchText(absl::string_view text);

// The launch text that lies in the file `fd`; what cannot be read is empty.
LaunchText ReadLaunchText(int fd);

// Adds the size of a page, and what the traced process knew when tracing began;
// nullptr: tracing never began.
void AddStartToHeader(const StartFacts* start, uint32_t page_bytes,
                      Header* header);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_LAUNCH_TEXT_H_
