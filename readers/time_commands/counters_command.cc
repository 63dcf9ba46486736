#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/counters/counter_replay.h"
#include "readers/counters/counter_tables.h"
#include "readers/counters/counter_text.h"
#include "readers/options/help_text.h"
#include "readers/output/html_page.h"
#include "readers/output/screen_text.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "readers/time_commands/counter_chart.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class CountersCommand final : public ReportCommand {
 public:
  CountersCommand()
      : ReportCommand(
            "counters", "CPU, RSS, descriptors, gc and your counters over time",
            "Says what the process was like over time: RSS, PSS, live heap, "
            "CPU, page faults, open descriptors, runs of Python's cycle "
            "collector, and the counters that the program gave to "
            "pymemrun.counter(). Into a file whose name ends in .svg it draws "
            "RSS and CPU.\n\nIt needs a run that recorded counters. The "
            "curve of a total, such as CPU or page faults, shows how fast it "
            "grew. A total counts from the beginning of the process. The live "
            "heap is what heap events tell.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    app->add_option("--counter", names_, "Show this counter only. Repeatable.")
        ->type_name("NAME");
    app->add_flag("--gc", gc_,
                  "List the runs of the cycle collector, the longest first.");
    range_.Add(app);
    app->add_flag("--svg", svg_,
                  "Draw RSS and CPU over time, whatever the output's name.");
    table_.Add(app, 10, ": a row for each value, or with --gc for each run");
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(app, {"--counter", "--gc", "--from", "--to", "--svg",
                          "--csv", "--output"});
  }
  std::string OfOneRun() const override { return svg() ? "a picture" : ""; }
  std::string NotForTerminal() const override {
    return svg() ? "pictures" : "";
  }
  std::string Problem() const override {
    if (svg_ && (gc_ || !names_.empty() || !table_.as_text())) {
      return "--svg takes no --gc, --counter, --csv or --json";
    }
    if (gc_ && !names_.empty()) return "--counter and --gc do not go together";
    if (!gc_ && table_.given_limit.has_value()) {
      return "--limit has no effect without --gc";
    }
    return "";
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  bool svg() const {
    return svg_ || (!gc_ && names_.empty() && table_.as_text() &&
                    IsPictureName(files_.output));
  }
  // Those asked for. False: there is no such one, which has been said.
  bool Choose(const CounterReplay& replay, const RereadFile& file,
              const Console& console,
              std::vector<const CounterSeries*>* chosen) const;
  void PrintText(const CounterReplay& replay,
                 const std::vector<const CounterSeries*>& chosen,
                 OutputBuffer* output) const;
  int PrintGcRuns(const CounterReplay& replay, const RereadFile& file,
                  const Console& console, OutputBuffer* output) const;

  std::vector<std::string> names_;
  bool gc_ = false, svg_ = false;
  RangeOptions range_;
  TableOptions table_;
};

bool CountersCommand::Choose(const CounterReplay& replay,
                             const RereadFile& file, const Console& console,
                             std::vector<const CounterSeries*>* chosen) const {
  std::vector<std::string> known;
  for (const CounterSeries& series : replay.series()) {
    if (series.empty()) continue;
    known.push_back(TerminalText(series.name()));
    if (names_.empty() || std::find(names_.begin(), names_.end(),
                                    series.name()) != names_.end()) {
      chosen->push_back(&series);
    }
  }
  for (const std::string& name : names_) {
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

void CountersCommand::PrintText(const CounterReplay& replay,
                                const std::vector<const CounterSeries*>& chosen,
                                OutputBuffer* output) const {
  ScreenText text(&output->terminal());
  if (names_.empty()) {
    AddCounterSentences(replay, &text);
    text.Line();
  }
  AddCounterLines(chosen, replay, &text);
  output->Append(text.Take());
}

int CountersCommand::PrintGcRuns(const CounterReplay& replay,
                                 const RereadFile& file, const Console& console,
                                 OutputBuffer* output) const {
  if (!replay.knows_gc_runs()) {
    console.Say(absl::StrCat(
        file.shown_name(),
        ": runs of the cycle collector are not recorded of this Python"));
    return std::max(kExitUsage, file.code());
  }
  Table table = GcRunRows(
      replay,
      table_.as_text() || table_.given_limit.has_value() ? table_.limit() : 0);
  if (table_.as_text() && table.rows.empty()) {
    console.Say(
        absl::StrCat(file.shown_name(), ": the cycle collector did not run"));
    return file.code();
  }
  if (table_.as_text()) DropEmptyColumns(&table);
  PrintTable(table, table_.format(), output);
  if (table_.as_text()) {
    output->Append(table_.NotShown(replay.gc_runs().size(), "run", "runs"));
  }
  return file.code();
}

int CountersCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  CounterReplay replay;
  int code = kExitOk;
  MomentRange range;
  if (!range_.Find(file.get(), console, &range, &code)) return code;
  replay.SetRange(range.from_us, range.to_us);
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.has_counters()) {
    console.Say(absl::StrCat(
        file->shown_name(),
        ": has no counters; pymemrun --trace calls,pages,counters records "
        "them"));
    return file->whole() ? kExitUsage : file->code();
  }
  if (svg()) {
    PrintSvg(CounterChart(replay), output);
    return file->code();
  }
  if (gc_) return PrintGcRuns(replay, *file, console, output);
  std::vector<const CounterSeries*> chosen;
  if (!Choose(replay, *file, console, &chosen)) {
    return std::max(kExitUsage, file->code());
  }
  if (table_.as_text()) {
    PrintText(replay, chosen, output);
  } else {
    PrintTable(CounterRows(chosen), table_.format(), output);
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewCountersCommand() {
  return std::make_unique<CountersCommand>();
}

}  // namespace pymemrun
