// Live bytes over time by place.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/commands/time/timeline_options.h"
#include "readers/replay/heap/heap_history.h"
#include "readers/replay/heap/heap_table.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kUsualPlaces = 10;

// Which place each column is.
std::string Legend(const Curves& curves, const Terminal& terminal) {
  std::string text;
  for (size_t i = 0; i < curves.chosen.size(); ++i) {
    Place place = curves.chosen[i].place;
    const std::string file =
        terminal.fits()
            ? ShortestPath(place.file, terminal.folder, terminal.unicode)
            : std::string(place.file);
    place.file = file;
    absl::StrAppend(&text, "[", i + 1, "] ", TerminalText(LabelOf(place)),
                    ", up to ", HumanBytes(curves.chosen[i].Peak()), "\n");
  }
  return text;
}

void SetTexts(const HeapReplay& replay, TimeChart* chart) {
  chart->title = TitleOf("Live bytes", replay.header().script());
  chart->subtitle =
      absl::StrCat("process ", replay.header().pid(),
                   replay.sampled() ? "; estimated from samples"
                                    : "; every allocation was recorded");
  if (replay.lost_events() > 0) {
    absl::StrAppend(&chart->subtitle, "; ",
                    Counted(replay.lost_events(), "heap event"), " lost");
  }
}

// As many columns as there is room for, unless the user says how many.
// kOtherColumns is the width of those that are always there.
uint64_t TopFor(const TimelineOptions& options, const Terminal& terminal) {
  constexpr size_t kColumns = 11, kOtherColumns = 43;
  if (options.top.has_value()) return *options.top;
  if (!terminal.fits() || options.as_svg || !options.table.as_text()) {
    return kUsualPlaces;
  }
  const size_t room =
      terminal.columns - std::min(terminal.columns, kOtherColumns);
  return std::clamp<uint64_t>(room / kColumns, 1, kUsualPlaces);
}

// Null: there is nothing to show, which has been said.
std::unique_ptr<HeapHistoryReplay> Read(const TimelineOptions& options,
                                        const MomentRange& range,
                                        RunReading* run, Drawing* drawing) {
  auto replay = std::make_unique<HeapHistoryReplay>(
      HeapHistoryOptions{.by = *options.by,
                         .interval_us = options.interval_us,
                         .from_us = range.from_us,
                         .to_us = range.to_us,
                         .threads = options.thread()});
  if (options.by == GroupBy::kTask) {
    // Tasks need a reading of their own first. It owns their names.
    auto steps = std::make_shared<TaskStepsReader>(run->file());
    if (!run->Read(steps.get())) return nullptr;
    replay->TellTasksApart(steps.get());
    drawing->names.push_back(std::move(steps));
  }
  if (!run->Read(replay.get())) return nullptr;
  if (replay->too_many()) {
    run->console().Usage(
        "--interval: too many moments for this run; give a longer one");
    run->Fail(kExitUsage);
    return nullptr;
  }
  return run->HasThread(&replay->threads()) ? std::move(replay) : nullptr;
}

}  // namespace

bool DrawHeap(const TimelineOptions& options, const Terminal& terminal,
              RunReading* run, Drawing* drawing) {
  RangeOptions bounds = options.range;
  // Finalization frees nearly all memory: at its end no place would hold any.
  if (!bounds.to.has_value() && options.order != SeriesOrder::kPeak) {
    bounds.to = Moment{Moment::kEnd};
  }
  MomentRange range;
  if (!run->Find(bounds, &range)) return false;
  auto replay = Read(options, range, run, drawing);
  if (replay == nullptr) return false;
  Curves& curves = drawing->curves;
  curves = replay->Result({.top = TopFor(options, terminal),
                           .order = options.order,
                           .view = options.view()});
  drawing->heading = Legend(curves, terminal) + HeapHeading(*replay);
  SetTexts(*replay, &drawing->chart);
  drawing->chart.AddLayers(curves);
  drawing->chart.MarkHighest(curves);
  drawing->names.push_back(std::move(replay));
  return true;
}

}  // namespace pymemrun
