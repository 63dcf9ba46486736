#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/answer/held_timeline.h"
#include "readers/chart/svg_chart.h"
#include "readers/lanes/thread_lanes.h"
#include "readers/lanes/track_source.h"
#include "readers/moments/moment_reading.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/table.h"
#include "readers/places/place.h"
#include "readers/report/report_command.h"
#include "readers/resident/find_peak.h"
#include "readers/resident/resident_table.h"
#include "readers/resident/timeline.h"
#include "readers/time_commands/heap_timeline_chart.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kHairline = 360;  // of the picture's height
constexpr absl::string_view kOther = "other places";

Table TimelineTable(const Timeline& line) {
  Table table = MomentTable(line.time_us);
  AddColumn({"rss_bytes", ""}, line.rss_bytes, &table);
  for (const auto& series : line.series) {
    AddColumn({LabelOf(series.place), ""}, series.bytes, &table);
  }
  AddColumn({std::string(kOther), ""}, line.other_bytes, &table);
  for (const auto& part : line.parts) {
    AddColumn({std::string(part.place.file), ""}, part.bytes, &table);
  }
  AddColumn({std::string(kBeforeTracing), ""}, line.before_bytes, &table);
  AddColumn({std::string(kUnattributed), ""}, line.unattributed_bytes, &table);
  return table;
}

// Whose bytes the layers are.
std::string Meaning(GroupBy by, bool held, const ResidentReplay& replay) {
  const absl::string_view scanned = replay.by_scan() ? " (pages by scan)" : "";
  if (!held && replay.by_scan()) {
    return absl::StrCat("by what pages are part of", scanned);
  }
  return absl::StrCat(
      "by ", by == GroupBy::kFunction ? "Python " : "", GroupByName(by),
      held ? " that holds it, estimated from live blocks" : " of first touch",
      scanned);
}

void SetTexts(GroupBy by, bool held, const ResidentReplay& replay,
              StackedChart* chart) {
  const Header& header = replay.header();
  chart->title = TitleOf("Resident memory", header.script());
  chart->subtitle =
      absl::StrCat(Meaning(by, held, replay), "; process ", header.pid());
  if (replay.model().sampled()) {
    absl::StrAppend(&chart->subtitle,
                    "; estimated: ", SampledText(replay.header()));
  }
  if (replay.lost_samples() > 0) {
    absl::StrAppend(&chart->subtitle, "; ",
                    Counted(replay.lost_samples(), "page event"), " lost");
  }
}

StackedChart ChartOf(GroupBy by, bool held, const ResidentReplay& replay,
                     const Timeline& line, uint64_t peak_us) {
  StackedChart chart;
  SetTexts(by, held, replay, &chart);
  chart.SetTimes(line.time_us);
  const auto add = [&chart](std::string label, absl::string_view color,
                            const auto& values, std::string shown = "") {
    chart.AddLayer(std::move(label), color, {values.begin(), values.end()},
                   std::move(shown));
  };
  add(std::string(kBeforeTracing), "#c9ced4", line.before_bytes);
  const std::vector<std::string> colors = LayerColors(line.series.size());
  std::vector<Place> places;
  for (const auto& series : line.series) places.push_back(series.place);
  const std::vector<std::string> shown = ShortLabelsOf(places);
  for (size_t i = 0; i < line.series.size(); ++i) {
    add(LabelOf(places[i]), colors[i], line.series[i].bytes, shown[i]);
  }
  add(std::string(kOther), "#8c959f", line.other_bytes);
  const std::vector<std::string> grays = {"#d8dee4", "#afb8c1", "#c9ced4"};
  for (size_t i = 0; i < line.parts.size(); ++i) {
    add(std::string(line.parts[i].place.file), grays[i % grays.size()],
        line.parts[i].bytes);
  }
  add(std::string(kUnattributed), "#eaeef2", line.unattributed_bytes);
  chart.line_bytes.assign(line.rss_bytes.begin(), line.rss_bytes.end());
  const auto peak =
      std::find(line.time_us.begin(), line.time_us.end(), peak_us);
  chart.Mark("RSS", peak - line.time_us.begin(), peak_us);
  return chart;
}

// What threads are called is all that it keeps.
class ThreadNames final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  void Finish() override {}
};

// Returns the exit code.
int SayTooLate(const RereadFile& file, const Console& console) {
  console.Say(absl::StrCat(file.shown_name(), ": the run ended before --from"));
  return kExitUsage;
}

class TimelineCommand final : public ReportCommand {
 public:
  TimelineCommand()
      : ReportCommand(
            "timeline", "RSS over time by place, as a picture or CSV",
            "Draws RSS over time, stacked by the places that held most of it. "
            "It needs a run with page events; --by heap needs heap events. "
            "Without heap events nobody knows who holds a page: there it is "
            "charged to who touched it first.\n\n"
            "--threads draws a lane for each thread below RSS: which of your "
            "functions ran, where every event was logged, and what memory the "
            "thread took. A run with the GIL, states or tasks shows when "
            "it ran, waited and slept, or whose step it ran.") {}

  void AddOptions(CLI::App* app) override;
  std::string Problem() const override;
  std::string OfOneRun() const override { return "a timeline"; }
  std::string NotForTerminal() const override {
    return as_svg_ ? "pictures" : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  int DrawThreads(RereadFile* file, const Console& console,
                  OutputBuffer* output) const;

  bool as_svg_ = true, threads_ = false;
  CLI::Option* by_option_ = nullptr;
  std::optional<GroupBy> by_ =
      GroupBy::kLine;  // nothing: live bytes beside RSS
  // Who holds it, not who touched it first; nothing: where blocks are known.
  std::optional<bool> held_;
  static constexpr uint64_t kUsualTop = 8, kUsualLanes = 24;
  // Places with a series of their own; or threads with a lane.
  std::optional<uint64_t> top_;
  // Where the picture begins and ends, and the highest RSS in between.
  struct Part {
    uint64_t from_us = 0, to_us = 0, peak_us = 0, peak_bytes = 0;
  };
  // Nothing: there is no such part, which has been said; *code is what to exit
  // with.
  std::optional<Part> FindPart(RereadFile* file,
                               std::unique_ptr<RunMoments>* finder,
                               const Console& console, int* code) const;

  std::unique_ptr<TimelineReplay> NewReplay(const Part& part, bool held,
                                            const RunMoments& finder,
                                            const RereadFile& file) const;

  TableView view_;
  std::string thread_;
  std::optional<Moment> from_, to_;
};

void TimelineCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddChoice<bool>(app, "--format", &as_svg_, {{"svg", true}, {"csv", false}},
                  "FORMAT", "Print svg (default) or csv.");
  app->add_flag("--threads", threads_,
                "Draw a lane for each thread: the --top 24 that did most, and "
                "one for the others together.");
  by_option_ = AddChoice<std::optional<GroupBy>>(
      app, "--by", &by_,
      {{"line", GroupBy::kLine},
       {"library-line", GroupBy::kLibraryLine},
       {"function", GroupBy::kFunction},
       {"file", GroupBy::kFile},
       {"thread", GroupBy::kThread},
       {"heap", std::nullopt}},
      "KIND",
      "Group by line (default; your code's), library-line (the innermost), "
      "function (Python's), file, thread; or heap: live bytes of Python and of "
      "C code, and the rest of RSS.");
  AddChoice<std::optional<bool>>(
      app, "--owner", &held_, {{"touch", false}, {"heap", true}}, "KIND",
      "Charge memory to who allocated the blocks in it (heap, the default), or "
      "to who touched its pages first (touch).");
  AddTop(app, &top_, kUsualTop, "Stack the N places with the highest peaks");
  AddFiles(app, "places of ", &view_);
  AddThread(app, &thread_);
  AddParsed(app, "--from", &from_, ParseMoment, "T",
            "Begin at this moment, named as --at names it elsewhere.");
  AddParsed(app, "--to", &to_, ParseMoment, "T", "End at this moment.");
  AddOwn(app);
  files_.AddOutput(app);
  SetUsualOptions(
      app, {"--format", "--by", "--threads", "--top", "--thread", "--output"});
}

std::unique_ptr<TimelineReplay> TimelineCommand::NewReplay(
    const Part& part, bool held, const RunMoments& finder,
    const RereadFile& file) const {
  std::vector<uint64_t> moments =
      PartSteps(part.from_us, part.to_us, part.peak_us);
  if (!held) {
    return std::make_unique<TimelineReplay>(*by_, std::move(moments),
                                            finder.hindsight());
  }
  return std::make_unique<HeldTimelineReplay>(
      *by_, std::move(moments), part.peak_us, file.fd(), finder.hindsight());
}

std::string TimelineCommand::Problem() const {
  if (threads_ && !as_svg_) return "--threads is a picture: no --format csv";
  if (threads_ && (by_option_->count() > 0 || view_.chooses_files())) {
    return "--threads has lanes, and no places: it takes no --by, --file or "
           "--exclude";
  }
  if (held_.has_value() && (threads_ || !by_.has_value())) {
    return "--owner takes places: neither --threads nor --by heap";
  }
  if (by_.has_value()) return FilesProblem(view_, *by_);
  if (from_.has_value() || to_.has_value()) {
    return "--by heap draws the whole run: it takes neither --from nor --to";
  }
  return view_.chooses_files() || !thread_.empty()
             ? "--by heap has no places: it takes no --file, --exclude or "
               "--thread"
             : "";
}

int TimelineCommand::DrawThreads(RereadFile* file, const Console& console,
                                 OutputBuffer* output) const {
  int code = kExitOk;
  MomentRange range;
  std::unique_ptr<RunMoments> moments;
  if (!FindRange(from_, to_, file, console, &moments, &range, &code)) {
    return code;
  }
  const uint64_t to_us = std::min(range.to_us, LastMomentOf(file));
  if (range.from_us > 0 && range.from_us >= to_us) {
    return SayTooLate(*file, console);
  }
  ThreadNames names;
  ThreadFilter wanted(thread_, &names.index());
  if (wanted.any() && !file->Read(&names)) return kExitFailed;
  if (SayNoThread(&wanted, file->shown_name(), console)) return kExitUsage;
  LaneLevels levels(to_us, kReadColumns, range.from_us, to_.has_value());
  levels.KeepThreads([&](uint32_t thread) { return wanted.Keeps(thread); });
  if (!ReadLanes(file, &levels)) return kExitFailed;
  const LaneChart chart = ThreadLanes(levels, top_.value_or(kUsualLanes));
  if (chart.lanes.empty()) {
    console.Say(absl::StrCat(file->shown_name(),
                             ": nobody saw what threads did: record calls "
                             "(--min-drss 0), page faults, heap events, the "
                             "GIL, states or tasks"));
    return file->whole() ? kExitUsage : file->code();
  }
  PrintSvg(chart, output);
  return std::max(code, file->code());
}

std::optional<TimelineCommand::Part> TimelineCommand::FindPart(
    RereadFile* file, std::unique_ptr<RunMoments>* finder,
    const Console& console, int* code) const {
  const uint64_t last_us = (*finder)->last_us();
  if (!from_.has_value() && !to_.has_value()) {
    return Part{0, last_us, std::min((*finder)->RssPeak().time_us, last_us),
                (*finder)->PeakBytes()};
  }
  MomentRange range;
  if (!FindRange(from_, to_, file, console, finder, &range, code)) {
    return std::nullopt;
  }
  range.to_us = std::min(range.to_us, last_us);
  if (range.from_us >= range.to_us) {
    *code = SayTooLate(*file, console);
    return std::nullopt;
  }
  PartPeak peak(range.from_us, range.to_us, (*finder)->hindsight());
  if (!file->Read(&peak)) {
    *code = kExitFailed;
    return std::nullopt;
  }
  return Part{range.from_us, range.to_us, peak.time_us(), peak.bytes()};
}

int TimelineCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  if (threads_) return DrawThreads(file.get(), console, output);
  auto finder = RunMoments::Of(ReadingOf(file.get()));
  if (finder == nullptr) return kExitFailed;
  if (!by_.has_value()) {
    return PrintHeapTimeline(as_svg_, *finder, file.get(), console, output);
  }
  if (SayNoPageEvents(*finder, *file, console)) {
    return file->whole() ? kExitUsage : file->code();
  }
  int code = kExitOk;
  const auto part = FindPart(file.get(), &finder, console, &code);
  if (!part.has_value()) return code;
  const bool has_heap = finder->header().heap() != HEAP_OFF;
  if (held_.value_or(false) && !has_heap) {
    console.Say(absl::StrCat(file->shown_name(),
                             ": --owner heap needs heap events: the run was "
                             "made without"));
    return kExitUsage;
  }
  const bool held = held_.value_or(has_heap);
  const auto replay = NewReplay(*part, held, *finder, *file);
  replay->KeepThreads(thread_);
  if (!file->Read(replay.get())) return kExitFailed;
  if (replay->by_scan() && !held && !thread_.empty()) {
    console.Say(absl::StrCat(file->shown_name(),
                             ": --thread: pages were scanned: nobody saw which "
                             "thread touched them (--owner heap has who "
                             "allocated)"));
    return kExitUsage;
  }
  if (SayNoThread(&replay->threads(), file->shown_name(), console)) {
    return kExitUsage;
  }
  // What would be no more than a hairline needs no colour.
  const uint64_t least_bytes = as_svg_ ? part->peak_bytes / kHairline : 0;
  const Timeline line =
      replay->Result(top_.value_or(kUsualTop), least_bytes, view_);
  if (as_svg_) {
    PrintSvg(ChartOf(*by_, held, *replay, line, part->peak_us), output);
  } else {
    PrintTable(TimelineTable(line), TableFormat::kCsv, output);
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewTimelineCommand() {
  return std::make_unique<TimelineCommand>();
}

}  // namespace pymemrun
