// What `pymemreport timeline` is asked, and what it has found to show. Each of
// the kinds of --of has a file of its own.
#ifndef PYMEMRUN_READERS_COMMANDS_TIME_TIMELINE_OPTIONS_H_
#define PYMEMRUN_READERS_COMMANDS_TIME_TIMELINE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "readers/commands/call_options.h"
#include "readers/output/output_buffer.h"
#include "readers/pictures/chart/svg_chart.h"
#include "readers/report/option_groups.h"
#include "readers/report/range_options.h"
#include "readers/report/run_reading.h"
#include "readers/run/replay_visitor.h"
#include "readers/series/series.h"

namespace pymemrun {

struct TimelineOptions {
  enum Of { kRss, kHeap, kThreads, kCounters };

  Of of = kRss;
  bool as_svg = false;          // by the options and the name of the output
  std::optional<uint64_t> top;  // series, or lanes, of their own
  // For RSS; none: shows live bytes beside the rest of RSS.
  std::optional<GroupBy> by = GroupBy::kLine;
  PeakOptions peaks;  // its files and its thread choose series, too
  RangeOptions range;
  TableOptions table;
  // For RSS: charge pages to who holds them, not to who touched them first;
  // none: yes if blocks are known.
  std::optional<bool> held;
  // For the heap.
  uint64_t interval_us = 0;  // 0: chosen by the reading
  SeriesOrder order = SeriesOrder::kPeak;
  // For threads.
  std::optional<uint64_t> rebase;  // none: chosen by the reading
  size_t most_peaks = 24;
  CallAttribution attribution;
  // For counters.
  std::vector<std::string> names;
  bool gc_runs = false;

  const TableView& view() const { return peaks.choice.view; }
  const std::string& thread() const { return peaks.choice.thread; }
};

// What to print: a picture or a table, and the heading above it.
struct Drawing {
  Curves curves;
  TimeChart chart;  // may be empty unless a picture is requested
  std::string heading;
  // Owners of the places' names.
  std::vector<std::shared_ptr<void>> names;
};

// Each reads the run. Returns false if there is nothing to show, and has
// printed why; `run` has the exit code. REQUIRES: the run's file could be
// opened.
bool DrawRss(const TimelineOptions& options, RunReading* run, Drawing* drawing);
bool DrawHeap(const TimelineOptions& options, const Terminal& terminal,
              RunReading* run, Drawing* drawing);
bool DrawThreads(TimelineOptions* options, RunReading* run, Drawing* drawing);
// These print, too.
bool PrintLanes(const TimelineOptions& options, RunReading* run,
                OutputBuffer* output);
bool PrintCounters(const TimelineOptions& options, RunReading* run,
                   OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_TIME_TIMELINE_OPTIONS_H_
