// The process's counters over time, and runs of the cycle collector.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/commands/time/counter_chart.h"
#include "readers/commands/time/timeline_options.h"
#include "readers/output/screen_text.h"
#include "readers/replay/counters/counter_replay.h"
#include "readers/replay/counters/counter_tables.h"
#include "readers/replay/counters/counter_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Those asked for. False: there is no such one, which has been said.
bool Choose(const std::vector<std::string>& names, const CounterReplay& replay,
            const RunReading& run, std::vector<const CounterSeries*>* chosen) {
  std::vector<std::string> known;
  for (const CounterSeries& series : replay.series()) {
    if (series.empty()) continue;
    known.push_back(TerminalText(series.name()));
    if (names.empty() ||
        std::find(names.begin(), names.end(), series.name()) != names.end()) {
      chosen->push_back(&series);
    }
  }
  for (const std::string& name : names) {
    if (std::any_of(
            chosen->begin(), chosen->end(),
            [&](const CounterSeries* one) { return one->name() == name; })) {
      continue;
    }
    constexpr size_t kMostNames = 10;
    const size_t all = known.size();
    if (all > kMostNames) {
      known.resize(kMostNames);
      known.push_back(absl::StrCat(all - kMostNames, " more"));
    }
    run.Say(absl::StrCat("has no counter '", TerminalText(name), "'; it has ",
                         absl::StrJoin(known, ", ")));
    return false;
  }
  return true;
}

void PrintText(const CounterReplay& replay, bool has_sentences,
               const std::vector<const CounterSeries*>& chosen,
               OutputBuffer* output) {
  ScreenText text(&output->terminal());
  if (has_sentences) {
    AddCounterSentences(replay, &text);
    text.Line();
  }
  AddCounterLines(chosen, replay, &text);
  output->Append(text.Take());
}

bool PrintGcRuns(const CounterReplay& replay, const TableOptions& options,
                 RunReading* run, OutputBuffer* output) {
  if (!replay.knows_gc_runs()) {
    run->Say("runs of the cycle collector are not recorded of this Python");
    return run->Fail(kExitUsage);
  }
  Table table =
      GcRunRows(replay, options.as_text() || options.given_limit.has_value()
                            ? options.limit()
                            : 0);
  if (options.as_text() && table.rows.empty()) {
    run->Say("the cycle collector did not run");
    return true;
  }
  if (options.as_text()) DropEmptyColumns(&table);
  PrintTable(table, options.format(), output);
  if (options.as_text()) {
    output->Append(options.NotShown(replay.gc_runs().size(), "run", "runs"));
  }
  return true;
}

}  // namespace

bool PrintCounters(const TimelineOptions& options, RunReading* run,
                   OutputBuffer* output) {
  CounterReplay replay;
  MomentRange range;
  if (!run->Find(options.range, &range)) return false;
  replay.SetRange(range.from_us, range.to_us);
  if (!run->Read(&replay)) return false;
  if (options.as_svg) {
    PrintSvg(CounterChart(replay), output);
    return true;
  }
  if (options.gc_runs) return PrintGcRuns(replay, options.table, run, output);
  std::vector<const CounterSeries*> chosen;
  if (!Choose(options.names, replay, *run, &chosen)) {
    return run->Fail(kExitUsage);
  }
  if (options.table.as_text()) {
    PrintText(replay, options.names.empty(), chosen, output);
  } else {
    PrintTable(CounterRows(chosen), options.table.format(), output);
  }
  return true;
}

}  // namespace pymemrun
