#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/options/option_values.h"
#include "readers/replay/states/state_replay.h"
#include "readers/replay/states/state_tables.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"

namespace pymemrun {
namespace {

class StatesCommand final : public ReportCommand {
 public:
  StatesCommand()
      : ReportCommand(
            "states", "what threads do: run, want a CPU, sleep, and for what",
            "Shows how long each thread ran, wanted a CPU, and slept: for the "
            "GIL, for locks, for I/O, or a set time.\n\nWith GIL events, too, "
            "a run tells time with the GIL from time without, and waits for "
            "the GIL from waits for other locks. Context switches, running and "
            "preempted are exact. A sleep of a few milliseconds is examined "
            "once; shorter ones count as other. How long a thread wanted a CPU "
            "after its sleeps is known only in total: each sleep has an equal "
            "share.") {}

  void AddOptions(CLI::App* app) override {
    needs_.Add(Recorded::kStates);
    files_.AddOne(app);
    table_.Add(app, 20, "A row for each thread.", "threads");
    table_.AddSort(app);
    AddThread(app, &thread_);
    range_.Add(app);
    files_.AddOutput(app);
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
  std::string thread_;
  RangeOptions range_;
};

// One reading. The filter of threads works by the replay's index, which is
// complete only after it.
int StatesCommand::Run(const Console& console, OutputBuffer* output) {
  RunReading run(*this, console);
  StateReplay replay;
  TimeRange range;
  if (!run.Find(range_, &range)) return run.code();
  replay.SetRange(range);
  ThreadFilter keep(thread_, &replay.index());
  if (!run.Read(&replay) || !run.HasThread(&keep)) return run.code();
  if (range_.any() && StateThreadsOf(replay, &keep).empty()) {
    SayNotInRange("states of threads", thread_, run.file(), console);
    if (table_.as_text()) return run.code();
  }
  Table table = StateTable(replay, &keep, /*limit=*/0, table_.format());
  const auto all = table_.Choose(console, output, &table);
  if (!all.has_value()) return kExitUsage;
  table_.Print(
      absl::StrCat(StateSentence(replay, &keep), StateNotes(replay), "\n"),
      std::move(table), output);
  if (table_.as_text()) {
    output->AppendLines(table_.NotShown(*all, "thread", "threads"));
  }
  return run.code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewStatesCommand() {
  return std::make_unique<StatesCommand>();
}

}  // namespace pymemrun
