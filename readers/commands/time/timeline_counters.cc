// The process's counters over time, and runs of the cycle collector.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "readers/commands/time/timeline_options.h"
#include "readers/output/screen_text.h"
#include "readers/pictures/chart/lane_chart.h"
#include "readers/pictures/chart/svg_chart.h"
#include "readers/replay/counters/counter_replay.h"
#include "readers/replay/counters/counter_text.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// RSS and CPU over time: the picture of `pymemreport counters`.

using Kind = CounterReplay::Kind;

constexpr double kSameHeight = 0.01;  // of bars, for who looks at them

// The value of a total at a time: between two samples it grows evenly, before
// and after them it stays. REQUIRES: `points` is not empty.
double ValueAt(const std::vector<CounterPoint>& points, double time_us) {
  const auto after = std::partition_point(
      points.begin(), points.end(), [time_us](const CounterPoint& point) {
        return static_cast<double>(point.time_us) <= time_us;
      });
  if (after == points.begin()) return points.front().value;
  const CounterPoint& before = *(after - 1);
  if (after == points.end()) return before.value;
  return before.value +
         (after->value - before.value) *
             (time_us - static_cast<double>(before.time_us)) /
             static_cast<double>(after->time_us - before.time_us);
}

// How fast totals grow, a second, by column. Differences of sampled values at
// the ends of columns: their sum is what the totals grew by.
std::vector<double> RatesOf(const CounterReplay& replay,
                            const std::vector<Kind>& totals) {
  const auto begin_us = static_cast<double>(replay.begin_us());
  const double column_us =
      std::max(1.0, static_cast<double>(replay.long_us())) /
      LaneChart::kColumns;
  std::vector<double> rates(LaneChart::kColumns);
  for (const Kind kind : totals) {
    const std::vector<CounterPoint>& points = replay.Of(kind).points();
    if (points.empty()) continue;
    double before = ValueAt(points, begin_us);
    for (size_t i = 0; i < rates.size(); ++i) {
      const double value =
          ValueAt(points, begin_us + column_us * static_cast<double>(i + 1));
      rates[i] += (value - std::exchange(before, value)) / column_us * 1e6;
    }
  }
  return rates;
}

double Highest(const std::vector<double>& rates) {
  return *std::max_element(rates.begin(), rates.end());
}

// Each as high as its share of `full`. Neighbours of nearly the same height are
// one bar, as a constant rate would otherwise be a thousand of them.
std::vector<LaneChart::Bar> BarsOf(const std::vector<double>& rates,
                                   double full, uint32_t color) {
  std::vector<LaneChart::Bar> bars;
  for (uint32_t at = 0; full > 0 && at < rates.size(); ++at) {
    const double height = std::min(1.0, rates[at] / full);
    const bool goes_on = !bars.empty() &&
                         bars.back().column + bars.back().columns == at &&
                         std::abs(bars.back().height - height) < kSameHeight;
    if (goes_on) {
      ++bars.back().columns;
    } else if (height > 0) {
      bars.push_back({at, 1, color, height});
    }
  }
  return bars;
}

std::vector<double> RssByColumn(const CounterReplay& replay) {
  return Resampled(replay.Of(Kind::kRss).points(), replay.begin_us(),
                   replay.end_us(), LaneChart::kColumns, -1);
}

std::string SubtitleOf(const Header& header, double full) {
  return absl::StrCat("process ", header.pid(), "; a full bar of CPU is ",
                      Percent(full), " of one CPU");
}

double Growth(const CounterReplay& replay, Kind kind) {
  const CounterSeries& series = replay.Of(kind);
  return series.empty() ? 0 : series.Growth();
}

// REQUIRES: the replay has finished. A full bar of CPU is one CPU, or the
// highest rate if several were busy. Both lanes of CPU have this scale.
LaneChart CounterChart(const CounterReplay& replay) {
  constexpr uint32_t kCpuColor = LaneChart::kFirstColor;
  constexpr uint32_t kKernelColor = kCpuColor + 1;
  constexpr uint32_t kFaultColor = kKernelColor + 1;
  LaneChart chart;
  chart.title = TitleOf("RSS and CPU", replay.header().script());
  chart.begin_seconds = static_cast<double>(replay.begin_us()) / 1e6;
  chart.end_seconds = static_cast<double>(replay.end_us()) / 1e6;
  chart.colors = {"#8c959f", "#c9ced4", "#1f6fb4", "#d1550b", "#2b8a3e"};
  chart.has_bars = true;
  chart.rss_bytes = RssByColumn(replay);
  const auto cpu = RatesOf(replay, {Kind::kUserCpu, Kind::kSystemCpu});
  const auto kernel = RatesOf(replay, {Kind::kSystemCpu});
  const auto faults = RatesOf(replay, {Kind::kMinorFaults, Kind::kMajorFaults});
  const double full = std::max(1.0, Highest(cpu));
  chart.subtitle = SubtitleOf(replay.header(), full);
  const auto add = [&chart](std::string label, std::string detail,
                            const std::vector<double>& rates, double most,
                            uint32_t color) {
    LaneChart::Lane lane;
    lane.label = std::move(label);
    lane.detail = std::move(detail);
    lane.bars = BarsOf(rates, most, color);
    chart.lanes.push_back(std::move(lane));
  };
  add("CPU",
      absl::StrFormat("%.2f s", Growth(replay, Kind::kUserCpu) +
                                    Growth(replay, Kind::kSystemCpu)),
      cpu, full, kCpuColor);
  add("CPU in the kernel",
      absl::StrFormat("%.2f s", Growth(replay, Kind::kSystemCpu)), kernel, full,
      kKernelColor);
  add("page faults",
      absl::StrFormat("%.0f, at most %.0f a second",
                      Growth(replay, Kind::kMinorFaults) +
                          Growth(replay, Kind::kMajorFaults),
                      Highest(faults)),
      faults, Highest(faults), kFaultColor);
  return chart;
}

// The series asked for, all if no name is given. False: one does not exist, or
// has no value in the range, which has been said.
bool Choose(const std::vector<std::string>& names, const CounterReplay& replay,
            const RunReading& run, std::vector<const CounterSeries*>* chosen) {
  std::vector<std::string> known;
  for (const CounterSeries& series : replay.series()) {
    if (series.known().any()) known.push_back(TerminalText(series.name()));
    if (!series.empty() &&
        (names.empty() ||
         std::find(names.begin(), names.end(), series.name()) != names.end())) {
      chosen->push_back(&series);
    }
  }
  for (const std::string& name : names) {
    const auto found = std::find_if(
        replay.series().begin(), replay.series().end(),
        [&](const CounterSeries& one) { return one.name() == name; });
    const bool is_known =
        found != replay.series().end() && found->known().any();
    if (is_known && !found->empty()) continue;
    if (is_known) {
      run.Say(NotInRange(absl::StrCat("values of ", TerminalText(name)),
                         found->known().first_us, found->known().last_us));
      return false;
    }
    // A program may have passed hundreds of counters.
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

// Where the range has no values, but the run has.
void SayNoValues(const CounterReplay& replay, const RunReading& run) {
  const KnownTimes known = replay.KnownValues();
  const bool any =
      std::any_of(replay.series().begin(), replay.series().end(),
                  [](const CounterSeries& series) { return !series.empty(); });
  if (any || !known.any()) return;
  run.Say(NotInRange("counters", known.first_us, known.last_us));
}

void PrintText(const CounterReplay& replay, bool has_sentences,
               const std::vector<const CounterSeries*>& chosen,
               OutputBuffer* output) {
  ScreenText text(&output->terminal());
  if (has_sentences) {
    AddCounterSentences(replay, &text);
    text.Line();
  }
  if (!chosen.empty()) AddCounterLines(chosen, replay, &text);
  output->Append(text.Take());
}

// Without a run to list, it says which of three reasons applies: not recorded,
// not in the range, or there was none.
bool PrintGcRuns(const CounterReplay& replay, const TableOptions& options,
                 RunReading* run, OutputBuffer* output) {
  if (!replay.knows_gc_runs()) {
    run->Say("runs of the cycle collector are not recorded of this Python");
    return run->Fail(kExitUsage);
  }
  Table table = GcRunRows(replay, options.limit());
  const KnownTimes& known = replay.known_gc_runs();
  if (table.rows.empty() && known.any()) {
    run->Say(NotInRange("runs of the cycle collector", known.first_us,
                        known.last_us));
  } else if (options.as_text() && table.rows.empty()) {
    run->Say("the cycle collector did not run");
  }
  if (options.as_text() && table.rows.empty()) return true;
  if (options.as_text()) DropEmptyColumns(&table);
  PrintTable(table, options.format(), output);
  if (options.as_text()) {
    output->Append(options.NotShown(replay.gc_runs().size(), "run", "runs"));
  }
  return true;
}

}  // namespace

// One reading; the picture, the runs of the collector and the series are views
// of it.
bool PrintCounters(const TimelineOptions& options, RunReading* run,
                   OutputBuffer* output) {
  CounterReplay replay;
  MomentRange range;
  if (!run->Find(options.range, &range)) return false;
  replay.SetRange(range.from_us, range.to_us);
  if (!run->Read(&replay)) return false;
  if (options.as_svg) {
    SayNoValues(replay, *run);
    PrintSvg(CounterChart(replay), output);
    return true;
  }
  if (options.gc_runs) return PrintGcRuns(replay, options.table, run, output);
  std::vector<const CounterSeries*> chosen;
  if (!Choose(options.names, replay, *run, &chosen)) {
    return run->Fail(kExitUsage);
  }
  SayNoValues(replay, *run);
  if (options.table.as_text()) {
    PrintText(replay, options.names.empty(), chosen, output);
  } else {
    PrintTable(CounterRows(chosen), options.table.format(), output);
  }
  return true;
}

}  // namespace pymemrun
