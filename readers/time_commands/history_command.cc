#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "readers/chart/svg_chart.h"
#include "readers/heap/heap_history.h"
#include "readers/heap/heap_reading.h"
#include "readers/heap/heap_table.h"
#include "readers/moments/moment_reading.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"
#include "readers/report/report_command.h"
#include "text/columns.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kOther = "other places";

bool IsAnyAbove0(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](double value) { return value > 0; });
}

// For text, series have numbers for names.
Table HistoryTable(const HeapHistory& history) {
  Table table = MomentTable(history.time_us, "time [s]");
  const auto add = [&table](absl::string_view name, std::string title,
                            const std::vector<double>& bytes) {
    std::vector<uint64_t> whole;
    for (const double one : bytes) whole.push_back(WholeNumber(one));
    AddColumn({std::string(name), std::move(title), CellLook::kBytes}, whole,
              &table);
  };
  add("live_bytes", "live", history.live_bytes);
  for (size_t i = 0; i < history.series.size(); ++i) {
    const HeapHistory::Series& series = history.series[i];
    add(LabelOf(series.place), absl::StrCat("[", i + 1, "]"), series.bytes);
  }
  add(kOther, "other", history.other_bytes);
  if (IsAnyAbove0(history.tracing_bytes)) {
    add(kTracingItself, "tracing", history.tracing_bytes);
  }
  if (IsAnyAbove0(history.reserved_bytes)) {
    add(kReserved, "reserved", history.reserved_bytes);
  }
  return table;
}

// Which place each column is.
std::string Legend(const HeapHistory& history, const Terminal& terminal) {
  std::string text;
  for (size_t i = 0; i < history.series.size(); ++i) {
    Place place = history.series[i].place;
    const std::string file =
        terminal.fits()
            ? ShortestPath(place.file, terminal.folder, terminal.unicode)
            : std::string(place.file);
    place.file = file;
    absl::StrAppend(&text, "[", i + 1, "] ", TerminalText(LabelOf(place)),
                    ", up to ", HumanBytes(history.series[i].peak_bytes), "\n");
  }
  return text;
}

StackedChart ChartOf(const HeapReplay& replay, const HeapHistory& history) {
  StackedChart chart;
  chart.title = TitleOf("Live bytes", replay.header().script());
  chart.subtitle =
      absl::StrCat("process ", replay.header().pid(),
                   replay.sampled() ? "; estimated from samples"
                                    : "; every allocation was recorded");
  if (replay.lost_events() > 0) {
    absl::StrAppend(&chart.subtitle, "; ",
                    Counted(replay.lost_events(), "heap event"), " lost");
  }
  chart.SetTimes(history.time_us);
  const std::vector<std::string> colors = LayerColors(history.series.size());
  std::vector<Place> places;
  for (const auto& series : history.series) places.push_back(series.place);
  const std::vector<std::string> shown = ShortLabelsOf(places);
  for (size_t i = 0; i < history.series.size(); ++i) {
    chart.AddLayer(LabelOf(places[i]), colors[i], history.series[i].bytes,
                   shown[i]);
  }
  chart.AddLayer(std::string(kOther), "#8c959f", history.other_bytes);
  chart.line_bytes = history.live_bytes;
  chart.MarkHighest("live", history.time_us);
  return chart;
}

absl::StatusOr<uint64_t> ParseInterval(absl::string_view text) {
  const std::optional<uint64_t> us = ParseDuration(text);
  if (us.has_value() && *us > 0) return *us;
  return Expected("a time such as 60s or 500ms", text);
}

class HistoryCommand final : public ReportCommand {
 public:
  HistoryCommand()
      : ReportCommand("history", "live bytes over time by place",
                      "Tells the live bytes over time, by the places that held "
                      "most of them. It needs a run with heap events.") {}

  void AddOptions(CLI::App* app) override;
  std::string Problem() const override;
  std::string OfOneRun() const override {
    return svg_ || !format_.as_text() ? "a table of series" : "";
  }
  std::string NotForTerminal() const override { return svg_ ? "pictures" : ""; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  HeapHistoryOptions options_;
  static constexpr uint64_t kUsualTop = 10;

  uint64_t TopFor(const Terminal& terminal) const;
  bool FindBounds(RereadFile* file, const Console& console,
                  HeapHistoryOptions* options, int* code) const;

  std::optional<Moment> from_, to_;

  std::optional<uint64_t> top_;  // places with a series of their own
  FormatOptions format_;
  bool svg_ = false;
};

void HistoryCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddParsed(app, "--interval", &options_.interval_us, ParseInterval, "TIME",
            "Set the time between moments: 60s, 500ms, 5m (a sixtieth of the "
            "range).");
  AddTop(app, &top_, kUsualTop,
         "Show a series for each of the N places with the highest peaks");
  AddGroupBy(
      app, &options_.by,
      {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
       GroupBy::kFile, GroupBy::kThread, GroupBy::kTask, GroupBy::kAllocator,
       GroupBy::kModule, GroupBy::kStack},
      "Group by line (default; your code's), library-line (the innermost), "
      "function (Python's), file, thread, task (asyncio's), allocator, "
      "module, stack.");
  AddChoice<HistoryOrder>(app, "--sort", &options_.order,
                          {{"peak", HistoryOrder::kPeak},
                           {"end", HistoryOrder::kEnd},
                           {"growth", HistoryOrder::kGrowth}},
                          "ORDER",
                          "Show places with the highest peak first (default), "
                          "with the most at the end, or the most growth.");
  AddFiles(app, "places of ", &options_.view);
  AddThread(app, &options_.threads);
  AddParsed(app, "--from", &from_, ParseMoment, "T",
            "Begin at this moment, named as --at T names it.");
  AddParsed(app, "--to", &to_, ParseMoment, "T",
            "End at this moment. --sort end and growth look at the program's "
            "end, where not all has been freed yet, unless they are told.");
  app->add_flag("--svg", svg_, "Draw a picture.");
  format_.Add(app, ": a row for each moment");
  AddOwn(app);
  files_.AddOutput(app);
  SetUsualOptions(
      app, {"--interval", "--top", "--by", "--svg", "--csv", "--output"});
}

std::string HistoryCommand::Problem() const {
  const std::string problem = FilesProblem(options_.view, options_.by);
  if (!problem.empty()) return problem;
  if (svg_ && !format_.as_text()) return "give one of --csv, --json and --svg";
  return "";
}

// As many columns as there is room for, unless the user says how many.
uint64_t HistoryCommand::TopFor(const Terminal& terminal) const {
  constexpr size_t kColumns = 11, kOtherColumns = 43;
  if (top_.has_value()) return *top_;
  if (!terminal.fits() || svg_ || !format_.as_text()) return kUsualTop;
  const size_t room =
      terminal.columns - std::min(terminal.columns, kOtherColumns);
  return std::clamp<uint64_t>(room / kColumns, 1, kUsualTop);
}

// False: there are none, which has been said; *code is what to exit with.
bool HistoryCommand::FindBounds(RereadFile* file, const Console& console,
                                HeapHistoryOptions* options, int* code) const {
  std::optional<Moment> to = to_;
  if (!to.has_value() && options_.order != HistoryOrder::kPeak) {
    to = Moment{Moment::kEnd};
  }
  std::unique_ptr<RunMoments> moments;
  MomentRange range;
  if (!FindRange(from_, to, file, console, &moments, &range, code)) {
    return false;
  }
  options->from_us = range.from_us;
  options->to_us = range.to_us;
  return true;
}

int HistoryCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  int code = kExitOk;
  HeapHistoryOptions options = options_;
  if (!FindBounds(file.get(), console, &options, &code)) return code;
  HeapHistoryReplay replay(options);
  TaskStepsReader steps(file.get());
  if (options.by == GroupBy::kTask) {
    if (!ReadTaskSteps(file.get(), console, &steps, &code)) return code;
    replay.TellTasksApart(&steps);
  }
  if (!ReadHeapAgain(file.get(), console, &replay, &code)) return code;
  if (replay.too_many()) {
    console.Usage(
        "--interval: too many moments for this run; give a longer one");
    return kExitUsage;
  }
  if (SayNoThread(&replay.threads(), TerminalText(files_.paths[0]), console)) {
    return kExitUsage;
  }
  const HeapHistory history = replay.Result(TopFor(output->terminal()));
  if (history.time_us.empty()) {
    console.Say(absl::StrCat(TerminalText(files_.paths[0]),
                             ": the run ended before --from"));
    return std::max(code, kExitUsage);
  }
  if (svg_) {
    PrintSvg(ChartOf(replay, history), output);
    return code;
  }
  if (format_.as_text()) {
    output->AppendLines(Legend(history, output->terminal()) +
                        HeapHeading(replay));
  }
  PrintTable(HistoryTable(history), format_.format(), output);
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewHistoryCommand() {
  return std::make_unique<HistoryCommand>();
}

}  // namespace pymemrun
