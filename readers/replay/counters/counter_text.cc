#include "readers/replay/counters/counter_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/run/run_index.h"
#include "text/block_chart.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using Kind = CounterReplay::Kind;
using Look = CounterSeries::Look;

// Two samples further apart than this many of the time that was asked for are
// worth a word.
constexpr double kLate = 1.5;
// Fewer are no sign of a leak.
constexpr double kLeakedDescriptors = 5;
// VmHWM above the highest sample by this factor is worth a clause.
constexpr double kHwmShare = 1.01;

std::string Milliseconds(uint64_t time_us) {
  return time_us < 1000000 ? absl::StrFormat("%.1f ms", time_us * 1e-3)
                           : HumanSeconds(time_us);
}

// A file may hold any number: conversion of a larger one to an integer is
// undefined.
uint64_t Whole(double value) {
  return value <= 0 ? 0 : static_cast<uint64_t>(std::min(value, 1e18));
}

// Whole numbers below 1e15 are exact in a double, and are printed in full.
std::string Number(double value) {
  const double whole = std::round(value);
  if (whole == value && std::fabs(value) < 1e15) {
    const bool is_below = value < 0;
    return absl::StrCat(is_below ? "-" : "",
                        Grouped(static_cast<uint64_t>(std::fabs(value))));
  }
  return absl::StrFormat("%.4g", value);
}

std::string ValueText(const CounterSeries& series, double value) {
  switch (series.look()) {
    case Look::kBytes:
      return ShortBytes(value);
    case Look::kSeconds:
      return absl::StrFormat("%.2f s", value);
    default:
      return Number(value);
  }
}

// VmHWM is the kernel's own maximum, so it shows peaks between two samples.
std::string MemoryText(const CounterReplay& replay) {
  const CounterSeries& rss = replay.Of(CounterReplay::kRss);
  if (rss.empty()) return "";
  std::string text =
      absl::StrCat("RSS was highest at ", HumanSeconds(rss.most().time_us),
                   ": ", ShortBytes(rss.most().value));
  const CounterSeries& pss = replay.Of(CounterReplay::kPss);
  if (!pss.empty()) {
    absl::StrAppend(&text, ", PSS at ", HumanSeconds(pss.most().time_us), ": ",
                    ShortBytes(pss.most().value));
  }
  const double hwm = static_cast<double>(replay.hwm_bytes());
  if (hwm > rss.most().value * kHwmShare) {
    absl::StrAppend(&text, "; between two samples RSS reached ",
                    ShortBytes(hwm));
  }
  return absl::StrCat(text, ".");
}

// CPU times count from the start of the process: only their growth belongs to
// the samples.
std::string CpuText(const CounterReplay& replay) {
  const CounterSeries& user = replay.Of(CounterReplay::kUserCpu);
  const CounterSeries& system = replay.Of(CounterReplay::kSystemCpu);
  if (user.empty() || system.empty()) return "";
  const double used = user.Growth() + system.Growth();
  const double took =
      static_cast<double>(user.last().time_us - user.first().time_us) * 1e-6;
  if (took <= 0) return "";
  return absl::StrFormat(
      "It used %.2f s of CPU time in %.2f s, %s of one CPU: %.2f s by the "
      "program's code, %.2f s by the kernel.",
      used, took, Percent(used / took), user.Growth(), system.Growth());
}

// While the collector runs, no thread runs Python: the whole program waits for
// it.
std::string GcText(const CounterReplay& replay) {
  if (!replay.knows_gc_runs()) {
    return "Runs of the cycle collector are not recorded for this Python.";
  }
  const std::vector<GcRun>& runs = replay.gc_runs();
  if (runs.empty()) {
    return absl::StrCat("The cycle collector did not run",
                        replay.of_part() ? " in the range." : ".");
  }
  double stood_us = 0, collected = 0;
  const GcRun* worst = &runs[0];
  const auto took = [](const GcRun& run) {
    return run.time_us() - run.begin_us();
  };
  for (const GcRun& run : runs) {
    stood_us += static_cast<double>(took(run));
    collected += static_cast<double>(run.collected());
    if (took(run) > took(*worst)) worst = &run;
  }
  const double share =
      stood_us / std::max(1.0, static_cast<double>(replay.long_us()));
  return absl::StrFormat(
      "The cycle collector ran %s and paused the program for %s in all "
      "(%s), at worst for %s at %s (generation %d). It freed %s.",
      Counted(runs.size(), "time"), Milliseconds(Whole(stood_us)),
      Percent(share), Milliseconds(took(*worst)),
      HumanSeconds(worst->begin_us()), worst->generation(),
      Counted(Whole(collected), "object"));
}

std::string DescriptorText(const CounterReplay& replay) {
  const CounterSeries& open = replay.Of(CounterReplay::kDescriptors);
  if (open.empty()) return "";
  std::string text = absl::StrCat(
      "At most ",
      Counted(Whole(open.most().value), "descriptor was", "descriptors were"),
      " open");
  if (open.OnlyGrows() && open.Growth() >= kLeakedDescriptors) {
    return absl::StrCat(text, "; their number only grew, by ",
                        Number(open.Growth()),
                        ": the program may not close what it opens.");
  }
  return absl::StrCat(text, ", ", Number(open.last().value), " at the end.");
}

std::string SamplesText(const CounterReplay& replay) {
  std::string text;
  const uint64_t every_us = replay.TrueEveryUs();
  if (static_cast<double>(every_us) >
      kLate * static_cast<double>(replay.every_us())) {
    text = absl::StrCat("Samples are ", Milliseconds(every_us),
                        " apart on average; ", Milliseconds(replay.every_us()),
                        " were requested. Reading was slow, or the machine "
                        "was busy.");
  }
  if (replay.refused() != 0) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    Counted(replay.refused(), "value"),
                    " of further names did not fit.");
  }
  return text;
}

}  // namespace

void AddCounterSentences(const CounterReplay& replay, ScreenText* text) {
  for (const std::string& sentence :
       {MemoryText(replay), CpuText(replay), GcText(replay),
        DescriptorText(replay), SamplesText(replay)}) {
    if (!sentence.empty()) text->Paragraph(sentence);
  }
}

// Names are cut, so that numbers stay aligned. The curve takes what is left of
// the line, and may have no room.
void AddCounterLines(const std::vector<const CounterSeries*>& series,
                     const CounterReplay& replay, ScreenText* text) {
  constexpr size_t kMostName = 22, kNumber = 11, kMostCurve = 60;
  size_t name_columns = sizeof("counter") - 1;
  for (const CounterSeries* one : series) {
    name_columns = std::max(name_columns, TerminalText(one->name()).size());
  }
  name_columns = std::min(name_columns, kMostName);
  const size_t used = name_columns + 3 * kNumber + 2;
  const size_t curve_columns =
      text->columns() > used ? std::min(text->columns() - used, kMostCurve) : 0;
  std::string head = PadRight("counter", name_columns);
  for (const char* title : {"least", "most", "last"}) {
    head += PadLeft(title, kNumber);
  }
  text->Heading(absl::StrCat(head, "  over time"));
  const uint64_t last_us = replay.LastOfAllUs();
  for (const CounterSeries* one : series) {
    if (one->empty()) continue;
    std::string line =
        PadRight(CutToColumns(one->name(), name_columns), name_columns);
    for (const CounterPoint* point :
         {&one->least(), &one->most(), &one->Before(last_us)}) {
      line += PadLeft(ValueText(*one, point->value), kNumber);
    }
    absl::StrAppend(&line, "  ",
                    text->terminal().Bar(
                        BlockCurve(one->Curve(curve_columns, replay.end_us()),
                                   curve_columns, text->terminal().unicode)));
    text->Line(line);
  }
}

namespace {

double Seconds(uint64_t time_us) { return static_cast<double>(time_us) * 1e-6; }

}  // namespace

// All values in full, one counter after the other.
Table CounterRows(const std::vector<const CounterSeries*>& series) {
  Table table;
  table.headings = {{"clock_s", "time"},
                    {"counter", "counter", CellLook::kName},
                    {"value", "value"}};
  for (const CounterSeries* one : series) {
    for (const CounterPoint& point : one->points()) {
      table.rows.push_back(
          {Seconds(point.time_us), one->name(), ExactNumber{point.value}});
    }
  }
  table.places = table.rows.size();
  return table;
}

// A run of the collector is triggered by whatever allocated last: the line
// shows where it was, not who made the garbage.
Table GcRunRows(const CounterReplay& replay, uint64_t limit) {
  std::vector<const GcRun*> runs;
  for (const GcRun& run : replay.gc_runs()) runs.push_back(&run);
  std::stable_sort(
      runs.begin(), runs.end(), [](const GcRun* a, const GcRun* b) {
        return a->time_us() - a->begin_us() > b->time_us() - b->begin_us();
      });
  if (limit != 0 && runs.size() > limit) runs.resize(limit);
  Table table;
  table.headings = {{"clock_s", "time"},
                    {"generation", "generation"},
                    {"call_s", "seconds"},
                    {"collected", "collected"},
                    {"line", "line"},
                    {"uncollectable", "uncollectable"},
                    {"file", "file", CellLook::kName},
                    {"thread", "thread", CellLook::kName}};
  const RunIndex& index = replay.index();
  for (const GcRun* run : runs) {
    Cell line, file;
    const uint32_t own = index.OwnStack(run->stack());
    if (own != 0) {
      const SourceLocation where = index.ResolveStack(own);
      line = uint64_t{where.line};
      file = std::string(where.file);
    }
    table.rows.push_back({Seconds(run->begin_us()), uint64_t{run->generation()},
                          Seconds(run->time_us() - run->begin_us()),
                          run->collected(), line, run->uncollectable(), file,
                          std::string(index.LatestThreadLabel(run->thread()))});
  }
  table.places = table.rows.size();
  return table;
}

}  // namespace pymemrun
