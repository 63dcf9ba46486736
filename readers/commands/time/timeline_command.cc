#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/commands/time/timeline_options.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/html_page.h"
#include "readers/report/report_command.h"
#include "text/size_text.h"

namespace pymemrun {
namespace {

using Of = TimelineOptions::Of;

constexpr absl::string_view kOfNames[] = {"rss", "heap", "threads", "counters"};
constexpr uint64_t kMostTop = 24;      // series that can be told apart
constexpr uint64_t kMostPeaks = 1000;  // their legend has a row each

// Nothing: live bytes beside the rest of RSS.
Choices<std::optional<GroupBy>> Groups() {
  Choices<std::optional<GroupBy>> groups;
  for (const GroupBy of :
       {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
        GroupBy::kFile, GroupBy::kThread, GroupBy::kTask, GroupBy::kAllocator,
        GroupBy::kModule, GroupBy::kPackage, GroupBy::kStack}) {
    groups.emplace_back(GroupByName(of), of);
  }
  groups.emplace_back("heap", std::nullopt);
  return groups;
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

// Options and their conflicts; what is shown is read by the file of its kind.
// RSS and threads are pictures unless a table is asked for. Live bytes and
// counters are so only by the output's name or an option.
class TimelineCommand final : public ReportCommand {
 public:
  TimelineCommand()
      : ReportCommand(
            "timeline",
            "RSS, live bytes, threads or counters over time, as a picture",
            "Shows memory over time: by default, RSS by place. With --of it "
            "shows live bytes by place, the memory of each thread, or counters "
            "such as CPU.\n\nWithout heap events the holder of a page is "
            "unknown: it is charged to the code that touched it first. "
            "--threads draws a "
            "lane for each thread below RSS: what memory it took and, if every "
            "event was logged, which of your functions ran. If the GIL, states "
            "or tasks were recorded, it shows when the thread ran, waited and "
            "slept, or which task it ran.\n\n--of threads draws a line for "
            "each thread, the memory it added minus what it released, and one "
            "for the process. Peaks are numbered as in `pymemreport calls`; if "
            "there are more than 24, the largest in each 24th of the time is "
            "shown. If no calls are known, the highest point of each line is "
            "numbered. Growth is taken from page faults. Without page "
            "faults, the lines are each thread's live heap. Without heap "
            "events either, they are the changes of RSS at a thread's own "
            "events.\n\n--of counters shows figures of the process: RSS, PSS, "
            "live heap, CPU, "
            "page faults, open descriptors, runs of Python's cycle collector, "
            "and the counters that the program passed to pymemrun.counter(). "
            "With -o FILE.svg it draws RSS and CPU. The curve of a total, such "
            "as CPU or page faults, shows how fast it grew. A total counts "
            "from the start of the process. The live heap comes from heap "
            "events.") {}

  std::vector<OldName> OldNames() const override {
    return {
        {"history",
         {"--of", "heap"},
         "Shows live bytes by place over time, as a table or a picture."},
        {"graph",
         {"--of", "threads"},
         "Draws the memory of each thread over time, and a line for the "
         "process."},
        {"counters",
         {"--of", "counters"},
         "Shows figures of the process over time: RSS, PSS, live heap, CPU, "
         "page faults and what the program passed to pymemrun.counter()."}};
  }
  void AddOptions(CLI::App* app) override;
  // Pictures show one run. A table of series has columns of its own in each
  // run.
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
  void AddConflicts(CLI::App* app);
  std::string Problem() const override;
  bool csv() const {
    return options_.table.csv || (format_svg_.has_value() && !*format_svg_);
  }
  bool asks_svg() const { return svg_ || format_svg_.value_or(false); }
  bool svg() const;
  void Print(const Drawing& drawing, OutputBuffer* output) const;

  TimelineOptions options_;
  bool lanes_ = false, svg_ = false;
  std::optional<bool> format_svg_;
};

void TimelineCommand::AddOptions(CLI::App* app) {
  files_.AddOne(app);
  AddChoice<Of>(
      app, "--of", &options_.of,
      {{kOfNames[Of::kRss], Of::kRss},
       {kOfNames[Of::kHeap], Of::kHeap},
       {kOfNames[Of::kThreads], Of::kThreads},
       {kOfNames[Of::kCounters], Of::kCounters}},
      "WHAT",
      "Show RSS (default) or live bytes (heap) by place, memory by thread "
      "(threads), or counters.");
  AddChoosing(app);
  AddOfThreads(app);
  app->add_option("--counter", options_.names,
                  "Show this counter only. Repeatable.")
      ->option_text("NAME");
  app->add_flag("--gc", options_.gc_runs,
                "List the runs of the cycle collector, the longest first.");
  AddChoice<std::optional<bool>>(
      app, "--format", &format_svg_, {{"svg", true}, {"csv", false}}, "FORMAT",
      "Print svg (default of rss and threads) or csv.");
  app->add_flag("--svg", svg_, "Draw a picture, whatever the output's name.");
  options_.table.Add(app, 10,
                     "A row for each moment, counter value or garbage "
                     "collection.",
                     "runs of --gc");
  AddOwn(app);
  files_.AddOutput(app);
  AddConflicts(app);
  SetUsualOptions(app, {"--of", "--by", "--threads", "--from", "--to", "--csv",
                        "--output"});
}

// Which series are shown, and which part of the run.
void TimelineCommand::AddChoosing(CLI::App* app) {
  AddChoice(app, "--by", &options_.by, Groups(), "KIND",
            "Group by line (default; your code's), library-line (the "
            "innermost), function (Python's), file, thread, package; live "
            "bytes also by task (asyncio's), allocator, module, stack. With "
            "heap, RSS is split into live bytes and the rest.");
  app->add_flag("--threads", lanes_,
                "Draw lanes of the busiest threads, and one for all others.");
  AddChoice<std::optional<bool>>(
      app, "--owner", &options_.held, {{"touch", false}, {"heap", true}},
      "KIND",
      "Charge memory to the code that allocated the blocks in it (heap, the "
      "default), or that touched its pages first (touch).");
  AddParsed(
      app, "--top", &options_.top,
      [](absl::string_view text) { return ParseNumber(text, 1, kMostTop); },
      "N",
      "Show a series for each of the N places or threads with the highest "
      "peaks (8; of live bytes 10). With --threads, draw lanes of the N "
      "busiest threads (24).");
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
      "end, or the most growth. The end is that of the program, before "
      "finalization frees memory, unless --to sets it.");
  AddFiles(app, "places of ", &options_.peaks.choice.view);
  AddTasks(app, &options_.peaks.choice.view);
  AddThread(app, &options_.peaks.choice.thread);
  options_.range.Add(app);
}

// The rule of peaks is that of `calls`, so that numbers agree.
void TimelineCommand::AddOfThreads(CLI::App* app) {
  AddParsed(app, "--rebase", &options_.rebase, ParseRebase, "SIZE",
            "Draw RSS minus SIZE, so that the threads' lines are not flat "
            "beside it: auto (default; the lowest RSS shown), or a size.");
  options_.peaks.AddRule(app);
  AddParsed(
      app, "--peaks", &options_.most_peaks,
      [](absl::string_view text) { return ParseNumber(text, 1, kMostPeaks); },
      "N", "Number at most N peaks (24), 1000 at most.");
  options_.attribution.Add(app, &needs_);
}

// Each kind of --of has options of its own. Need() and Exclude() also leave
// useless options out of the help of old names.
void TimelineCommand::AddConflicts(CLI::App* app) {
  needs_.AddWith("--of rss", Recorded::kPages, {"--threads", "--by heap"});
  needs_.AddWith("--of heap", Recorded::kHeap);
  needs_.AddWith("--of counters", Recorded::kCounters);
  needs_.AddWith("--owner heap", Recorded::kHeap);
  needs_.AddWith("--by heap", Recorded::kHeap);
  needs_.AddWith("--by task", Recorded::kTasks);
  Need(app, {"--threads", "--owner", "--by heap"}, "--of rss");
  Need(app, {"--interval", "--sort", "--by task|allocator|module|stack"},
       "--of heap");
  Need(app, {"--by"}, "--of rss|heap");
  Need(app, {"--top", "--file", "--exclude", "--function", "--thread", "--own"},
       "--of rss|heap|threads");
  Need(app, {"--task"}, "--by task");
  Need(app,
       {"--rebase", "--min", "--min-time", "--min-value", "--peaks",
        "--thread-attribution"},
       "--of threads");
  Need(app, {"--counter", "--gc"}, "--of counters");
  Need(app, {"--limit"}, "--gc");  // --top says how many places there are
  Exclude(app, {"--counter"}, {"--gc"});
  Exclude(app, {"--svg", "--format svg"},
          {"--csv", "--json", "--counter", "--gc"});
  Exclude(app, {"--format csv"}, {"--json", "--svg"});
  // Lanes are a picture, and no places.
  Exclude(app, {"--threads"},
          {"--csv", "--json", "--format csv", "--by", "--owner", "--file",
           "--exclude", "--function"});
  // A thread, a package or an allocator has no file to choose by.
  Need(app, {"--file", "--exclude"}, "--by line|library-line|function|file");
  Need(app, {"--function"}, "--by line|library-line|function");
  // The whole run and all threads.
  Exclude(app, {"--by heap"}, {"--owner", "--thread", "--from", "--to"});
}

// Calls that are peaks have numbers in the picture alone. Whether there is one
// depends on the output's name, which CLI11's rules do not know.
std::string TimelineCommand::Problem() const {
  if (options_.of != Of::kThreads || svg()) return "";
  // An option counts as given if its value is not the default.
  const TimelineOptions usual;
  const TableView& view = options_.view();
  const PeakRule& rule = options_.peaks.rule;
  const std::pair<const char*, bool> given[] = {
      {"--file", !view.files.empty()},
      {"--exclude", !view.excluded.empty()},
      {"--function", !view.functions.empty()},
      {"--own", OwnCode::HasPatterns()},
      {"--min", rule.min_bytes != usual.peaks.rule.min_bytes},
      {"--min-time", rule.min_time_us.has_value()},
      {"--min-value", rule.min_value_bytes != usual.peaks.rule.min_value_bytes},
      {"--peaks", options_.most_peaks != usual.most_peaks},
      {"--rebase", options_.rebase.has_value()}};
  for (const auto& [name, is_given] : given) {
    if (is_given) return absl::StrCat(name, " applies only to the picture");
  }
  return "";
}

// Options decide first, then --of and the output's name.
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

void TimelineCommand::Print(const Drawing& drawing,
                            OutputBuffer* output) const {
  if (options_.as_svg) return PrintSvg(drawing.chart, output);
  if (options_.table.as_text()) output->AppendLines(drawing.heading);
  PrintTable(CurvesTable(drawing.curves), options_.table.format(), output);
}

// Lanes and counters print themselves; the others return curves.
int TimelineCommand::Run(const Console& console, OutputBuffer* output) {
  // From here on the options say what is printed, however it was asked for.
  options_.as_svg = svg();
  options_.table.csv = csv();
  RunReading run(*this, console);
  if (run.file() == nullptr) return run.code();
  Drawing drawing;
  bool is_drawn = false;
  switch (options_.of) {
    case Of::kRss:
      is_drawn = lanes_ ? PrintLanes(options_, &run, output)
                        : DrawRss(options_, &run, &drawing);
      break;
    case Of::kHeap:
      is_drawn = DrawHeap(options_, output->terminal(), &run, &drawing);
      break;
    case Of::kThreads:
      is_drawn = DrawThreads(&options_, &run, &drawing);
      break;
    case Of::kCounters:
      is_drawn = PrintCounters(options_, &run, output);
      break;
  }
  if (is_drawn && !lanes_ && options_.of != Of::kCounters) {
    Print(drawing, output);
    SayNoPlaces(drawing.curves.chosen.empty() && options_.of != Of::kThreads,
                options_.view(), options_.by, console, output);
  }
  return run.code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewTimelineCommand() {
  return std::make_unique<TimelineCommand>();
}

}  // namespace pymemrun
