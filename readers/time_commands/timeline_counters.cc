// The process's counters over time, and runs of the cycle collector.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/counters/counter_replay.h"
#include "readers/counters/counter_tables.h"
#include "readers/counters/counter_text.h"
#include "readers/output/screen_text.h"
#include "readers/time_commands/counter_chart.h"
#include "readers/time_commands/timeline_options.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Those asked for. False: there is no such one, which has been said.
bool Choose(const std::vector<std::string>& names, const CounterReplay& replay,
            const RereadFile& file, const Console& console,
            std::vector<const CounterSeries*>* chosen) {
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
    console.Say(absl::StrCat(file.shown_name(), ": has no counter '",
                             TerminalText(name), "'; it has ",
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

int PrintGcRuns(const CounterReplay& replay, const TableOptions& options,
                const RereadFile& file, const Console& console,
                OutputBuffer* output) {
  if (!replay.knows_gc_runs()) {
    console.Say(absl::StrCat(
        file.shown_name(),
        ": runs of the cycle collector are not recorded of this Python"));
    return std::max(kExitUsage, file.code());
  }
  Table table =
      GcRunRows(replay, options.as_text() || options.given_limit.has_value()
                            ? options.limit()
                            : 0);
  if (options.as_text() && table.rows.empty()) {
    console.Say(
        absl::StrCat(file.shown_name(), ": the cycle collector did not run"));
    return file.code();
  }
  if (options.as_text()) DropEmptyColumns(&table);
  PrintTable(table, options.format(), output);
  if (options.as_text()) {
    output->Append(options.NotShown(replay.gc_runs().size(), "run", "runs"));
  }
  return file.code();
}

}  // namespace

int PrintCounters(const TimelineOptions& options, RereadFile* file,
                  const Console& console, OutputBuffer* output) {
  CounterReplay replay;
  int code = kExitOk;
  MomentRange range;
  if (!options.range.Find(file, console, &range, &code)) return code;
  replay.SetRange(range.from_us, range.to_us);
  if (!file->Read(&replay)) return kExitFailed;
  if (!file->Has(Recorded::kCounters)) return file->code();
  if (options.as_svg) {
    PrintSvg(CounterChart(replay), output);
    return file->code();
  }
  if (options.gc_runs) {
    return PrintGcRuns(replay, options.table, *file, console, output);
  }
  std::vector<const CounterSeries*> chosen;
  if (!Choose(options.names, replay, *file, console, &chosen)) {
    return std::max(kExitUsage, file->code());
  }
  if (options.table.as_text()) {
    PrintText(replay, options.names.empty(), chosen, output);
  } else {
    PrintTable(CounterRows(chosen), options.table.format(), output);
  }
  return file->code();
}

}  // namespace pymemrun
