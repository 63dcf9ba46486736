#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/html_page.h"
#include "readers/report/report_command.h"
#include "readers/time_commands/timeline_options.h"
#include "text/size_text.h"

namespace pymemrun {
namespace {

using Of = TimelineOptions::Of;

constexpr absl::string_view kOfNames[] = {"rss", "heap", "threads", "counters"};
constexpr uint64_t kMostTop = 24;      // series that can be told apart
constexpr uint64_t kMostPeaks = 1000;  // their legend has a row each

// Options that do not go with each kind, and those with which they go.
struct Limited {
  const char* option;
  std::vector<Of> kinds;
};
const std::vector<Limited>& LimitedOptions() {
  static const std::vector<Limited> options = {
      {"--by", {Of::kRss, Of::kHeap}},
      {"--threads", {Of::kRss}},
      {"--owner", {Of::kRss}},
      {"--top", {Of::kRss, Of::kHeap, Of::kThreads}},
      {"--file", {Of::kRss, Of::kHeap, Of::kThreads}},
      {"--exclude", {Of::kRss, Of::kHeap, Of::kThreads}},
      {"--thread", {Of::kRss, Of::kHeap, Of::kThreads}},
      {"--interval", {Of::kHeap}},
      {"--sort", {Of::kHeap}},
      {"--rebase", {Of::kThreads}},
      {"--min", {Of::kThreads}},
      {"--min-time", {Of::kThreads}},
      {"--min-value", {Of::kThreads}},
      {"--peaks", {Of::kThreads}},
      {"--thread-attribution", {Of::kThreads}},
      {"--counter", {Of::kCounters}},
      {"--gc", {Of::kCounters}},
  };
  return options;
}

std::vector<GroupBy> GroupsOf(Of of) {
  std::vector<GroupBy> groups = {GroupBy::kLine, GroupBy::kLibraryLine,
                                 GroupBy::kFunction, GroupBy::kFile,
                                 GroupBy::kThread};
  if (of == Of::kHeap) {
    groups.insert(groups.end(), {GroupBy::kTask, GroupBy::kAllocator,
                                 GroupBy::kModule, GroupBy::kStack});
  }
  return groups;
}

// Nothing: live bytes beside the rest of RSS. Fails for what is no group.
absl::StatusOr<std::optional<GroupBy>> ParseBy(Of of, const std::string& text) {
  if (text.empty()) return GroupBy::kLine;
  if (of == Of::kRss && text == "heap") return std::nullopt;
  const std::vector<GroupBy> groups = GroupsOf(of);
  const std::optional<GroupBy> by = ParseGroupBy(text, groups);
  if (by.has_value()) return by;
  std::vector<absl::string_view> names;
  for (const GroupBy group : groups) names.push_back(GroupByName(group));
  if (of == Of::kRss) names.push_back("heap");
  return ExpectedOneOf(names, text);
}

absl::StatusOr<uint64_t> ParseInterval(absl::string_view text) {
  const std::optional<uint64_t> us = ParseDuration(text);
  if (us.has_value() && *us > 0) return *us;
  return Expected("a time such as 60s or 500ms", text);
}

absl::StatusOr<std::optional<uint64_t>> ParseRebase(absl::string_view text) {
  if (text == "auto") return std::optional<uint64_t>();
  const absl::StatusOr<uint64_t> bytes = ParseBytes(text);
  if (bytes.ok()) return std::optional<uint64_t>(*bytes);
  return Expected("auto or a size such as 30M", text);
}

class TimelineCommand final : public ReportCommand {
 public:
  TimelineCommand()
      : ReportCommand(
            "timeline",
            "RSS, live bytes, threads or counters over time, as a picture",
            "Shows what moved over time: RSS by place (the default), with --of "
            "live bytes by place, the memory of each thread, or CPU, "
            "descriptors and other counters.\n\n"
            "Of RSS it needs a run with page events; --by heap needs heap "
            "events. Without heap events nobody knows who holds a page: there "
            "it is charged to who touched it first. --threads draws a lane for "
            "each thread below RSS: which of your functions ran, where every "
            "event was logged, and what memory the thread took. A run with the "
            "GIL, states or tasks shows when it ran, waited and slept, or "
            "whose step it ran.\n\n"
            "--of heap needs a run with heap events.\n\n"
            "--of threads draws a line for each thread, what it brought less "
            "what it gave back, and one for the process. Peaks have the "
            "numbers of `pymemreport calls`; of more than 24 the largest of "
            "each 24th of the time are shown. Where no calls are known the "
            "highest point of each line is numbered. Growth is by page faults. "
            "Where pages were not seen to come, the lines are each thread's "
            "live heap. Without heap events either, they are what RSS changed "
            "by at a thread's own events.\n\n"
            "--of counters says what the process was like: RSS, PSS, live "
            "heap, CPU, page faults, open descriptors, runs of Python's cycle "
            "collector, and the counters that the program gave to "
            "pymemrun.counter(). Into a file whose name ends in .svg it draws "
            "RSS and CPU. It needs a run that recorded counters. The curve of "
            "a total, such as CPU or page faults, shows how fast it grew. A "
            "total counts from the beginning of the process. The live heap is "
            "what heap events tell.") {}

  std::vector<OldName> OldNames() const override {
    return {{"history", {"--of", "heap"}},
            {"graph", {"--of", "threads"}},
            {"counters", {"--of", "counters"}}};
  }
  void AddOptions(CLI::App* app) override;
  std::string Problem() const override;
  std::string OfOneRun() const override {
    const bool as_text = !svg() && !csv() && !options_.table.json;
    switch (options_.of) {
      case Of::kRss:
        return "a timeline";
      case Of::kThreads:
        return "a graph";
      case Of::kHeap:
        return as_text ? "" : "a table of series";
      case Of::kCounters:
        return svg() ? "a picture" : "";
    }
    return "";
  }
  std::string NotForTerminal() const override {
    return svg() ? "pictures" : "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  void AddChoosing(CLI::App* app);
  void AddOfThreads(CLI::App* app);
  bool csv() const {
    return options_.table.csv || (format_svg_.has_value() && !*format_svg_);
  }
  bool asks_svg() const { return svg_ || format_svg_.value_or(false); }
  bool svg() const;
  std::string LanesProblem() const;
  std::string CountersProblem() const;
  void Print(const Drawing& drawing, OutputBuffer* output) const;

  TimelineOptions options_;
  std::string by_;
  bool lanes_ = false, svg_ = false;
  std::optional<bool> format_svg_;
  const CLI::App* app_ = nullptr;  // while options are looked at
};

void TimelineCommand::AddOptions(CLI::App* app) {
  app_ = app;
  files_.AddOne(app);
  AddChoice<Of>(
      app, "--of", &options_.of,
      {{kOfNames[Of::kRss], Of::kRss},
       {kOfNames[Of::kHeap], Of::kHeap},
       {kOfNames[Of::kThreads], Of::kThreads},
       {kOfNames[Of::kCounters], Of::kCounters}},
      "WHAT",
      "Show rss (default) or heap, the live bytes, by place; threads, "
      "the memory of each; or counters, the process's and yours.");
  AddChoosing(app);
  AddOfThreads(app);
  app->add_option("--counter", options_.names,
                  "Show this counter only. Repeatable.")
      ->type_name("NAME");
  app->add_flag("--gc", options_.gc_runs,
                "List the runs of the cycle collector, the longest first.");
  AddChoice<std::optional<bool>>(
      app, "--format", &format_svg_, {{"svg", true}, {"csv", false}}, "FORMAT",
      "Print svg (default of rss and threads) or csv.");
  app->add_flag("--svg", svg_, "Draw a picture, whatever the output's name.");
  options_.table.Add(app, 10, ": a row for each moment, value or run");
  AddOwn(app);
  files_.AddOutput(app);
  SetUsualOptions(app, {"--of", "--by", "--threads", "--from", "--to", "--csv",
                        "--output"});
}

// Which series are shown, and which part of the run.
void TimelineCommand::AddChoosing(CLI::App* app) {
  app->add_option("--by", by_,
                  "Group by line (default; your code's), library-line (the "
                  "innermost), function (Python's), file, thread; live bytes "
                  "also by task (asyncio's), allocator, module, stack. RSS by "
                  "heap: live bytes of Python and of C code, and the rest.")
      ->option_text("KIND");
  app->add_flag("--threads", lanes_,
                "Draw a lane for each thread: the --top 24 that did most, and "
                "one for the others together.");
  AddChoice<std::optional<bool>>(
      app, "--owner", &options_.held, {{"touch", false}, {"heap", true}},
      "KIND",
      "Charge memory to who allocated the blocks in it (heap, the default), or "
      "to who touched its pages first (touch).");
  AddParsed(
      app, "--top", &options_.top,
      [](absl::string_view text) { return ParseNumber(text, 1, kMostTop); },
      "N",
      "Show a series for each of the N places or threads with the highest "
      "peaks (8; of live bytes 10).");
  AddParsed(app, "--interval", &options_.interval_us, ParseInterval, "TIME",
            "Set the time between moments of live bytes: 60s, 500ms, 5m (a "
            "sixtieth of the range).");
  AddChoice<SeriesOrder>(
      app, "--sort", &options_.order,
      {{"peak", SeriesOrder::kPeak},
       {"end", SeriesOrder::kEnd},
       {"growth", SeriesOrder::kGrowth}},
      "ORDER",
      "Show places with the highest peak first (default), with the most at the "
      "end, or the most growth. The end is the program's, where not all has "
      "been freed yet, unless --to says it.");
  AddFiles(app, "places of ", &options_.peaks.choice.view);
  AddThread(app, &options_.peaks.choice.thread);
  options_.range.Add(app);
}

void TimelineCommand::AddOfThreads(CLI::App* app) {
  AddParsed(app, "--rebase", &options_.rebase, ParseRebase, "SIZE",
            "Draw RSS less SIZE, so that the threads are not flat beside it: "
            "auto (default; the lowest RSS that is shown), or a size.");
  options_.peaks.AddRule(app);
  AddParsed(
      app, "--peaks", &options_.most_peaks,
      [](absl::string_view text) { return ParseNumber(text, 1, kMostPeaks); },
      "N", "Number at most N peaks (24), 1000 at most.");
  options_.attribution.Add(app);
}

bool TimelineCommand::svg() const {
  if (lanes_ || asks_svg()) return true;
  if (csv() || options_.table.json) return false;
  switch (options_.of) {
    case Of::kRss:
    case Of::kThreads:
      return true;
    case Of::kHeap:
      return IsPictureName(files_.output);
    case Of::kCounters:
      return !options_.gc_runs && options_.names.empty() &&
             IsPictureName(files_.output);
  }
  return false;
}

std::string TimelineCommand::LanesProblem() const {
  if (csv() || options_.table.json) {
    return "--threads is a picture: no --format csv";
  }
  if (!by_.empty() || options_.view().chooses_files()) {
    return "--threads has lanes, and no places: it takes no --by, --file or "
           "--exclude";
  }
  return "";
}

std::string TimelineCommand::CountersProblem() const {
  if (asks_svg() && (options_.gc_runs || !options_.names.empty())) {
    return "--svg takes no --gc or --counter";
  }
  if (options_.gc_runs && !options_.names.empty()) {
    return "--counter and --gc do not go together";
  }
  if (!options_.gc_runs && options_.table.given_limit.has_value()) {
    return "--limit has no effect without --gc";
  }
  return "";
}

std::string TimelineCommand::Problem() const {
  const Of of = options_.of;
  for (const Limited& limited : LimitedOptions()) {
    if (app_->get_option(limited.option)->count() == 0) continue;
    const auto& kinds = limited.kinds;
    if (std::find(kinds.begin(), kinds.end(), of) != kinds.end()) continue;
    return absl::StrCat(
        limited.option, " goes with --of ",
        absl::StrJoin(kinds, " or ", [](std::string* text, Of kind) {
          absl::StrAppend(text, kOfNames[kind]);
        }));
  }
  if (asks_svg() && (csv() || options_.table.json)) {
    return "give one of --csv, --json and --svg";
  }
  if (csv() && options_.table.json) return "give one of --csv and --json";
  if (of == Of::kCounters) return CountersProblem();
  if (options_.table.given_limit.has_value()) {
    return "--limit: here --top N says how many places there are";
  }
  if (of == Of::kThreads) return "";
  const auto by = ParseBy(of, by_);
  if (!by.ok()) return absl::StrCat("--by: ", by.status().message());
  const std::string problem = lanes_ ? LanesProblem() : "";
  if (!problem.empty()) return problem;
  if (options_.held.has_value() && (lanes_ || !by->has_value())) {
    return "--owner takes places: neither --threads nor --by heap";
  }
  if (by->has_value()) return FilesProblem(options_.view(), **by);
  if (options_.range.any()) {
    return "--by heap draws the whole run: it takes neither --from nor --to";
  }
  return options_.view().chooses_files() || !options_.thread().empty()
             ? "--by heap has no places: it takes no --file, --exclude or "
               "--thread"
             : "";
}

void TimelineCommand::Print(const Drawing& drawing,
                            OutputBuffer* output) const {
  if (options_.as_svg) return PrintSvg(drawing.chart, output);
  if (options_.table.as_text()) output->AppendLines(drawing.heading);
  PrintTable(CurvesTable(drawing.curves), options_.table.format(), output);
}

int TimelineCommand::Run(const Console& console, OutputBuffer* output) {
  options_.as_svg = svg();
  options_.table.csv = csv();
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  if (lanes_) return PrintLanes(options_, file.get(), console, output);
  Drawing drawing;
  int code = kExitOk;
  bool is_drawn = false;
  switch (options_.of) {
    case Of::kRss:
      options_.by = *ParseBy(options_.of, by_);
      is_drawn = DrawRss(options_, file.get(), console, &drawing, &code);
      break;
    case Of::kHeap:
      options_.by = *ParseBy(options_.of, by_);
      is_drawn = DrawHeap(options_, output->terminal(), file.get(), console,
                          &drawing, &code);
      break;
    case Of::kThreads:
      is_drawn = DrawThreads(&options_, file.get(), console, &drawing, &code);
      break;
    case Of::kCounters:
      return PrintCounters(options_, file.get(), console, output);
  }
  if (is_drawn) Print(drawing, output);
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewTimelineCommand() {
  return std::make_unique<TimelineCommand>();
}

}  // namespace pymemrun
