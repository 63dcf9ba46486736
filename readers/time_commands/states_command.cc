#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/options/option_values.h"
#include "readers/report/range_options.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "readers/states/state_replay.h"
#include "readers/states/state_tables.h"

namespace pymemrun {
namespace {

class StatesCommand final : public ReportCommand {
 public:
  StatesCommand()
      : ReportCommand(
            "states", "what threads do: run, want a CPU, sleep, and for what",
            "Says for how long each thread ran, wanted a CPU, and slept: for "
            "the GIL, for locks, for I/O, for time to pass. It needs a run "
            "with states. One with GIL events, too, tells time with the GIL "
            "from time without, and waits for the GIL from other locks.\n\n"
            "Context switches, running and preempted are exact. A sleep of "
            "some milliseconds is asked about once; shorter ones count as "
            "other. How long a thread wanted a CPU after its sleeps is known "
            "in sum alone: each sleep has the same part of it.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    table_.Add(app, 20, ": a row for each thread");
    AddThread(app, &thread_);
    range_.Add(app);
    files_.AddOutput(app);
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
  std::string thread_;
  RangeOptions range_;
};

int StatesCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  StateReplay replay;
  int code = kExitOk;
  MomentRange range;
  if (!range_.Find(file.get(), console, &range, &code)) return code;
  replay.SetRange(TimeRange::OfMicros(range.from_us, range.to_us));
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.has_states()) {
    console.Say(absl::StrCat(
        file->shown_name(),
        ": has no states of threads: record them with pymemrun --trace states "
        "or gil,states"));
    return file->whole() ? kExitUsage : file->code();
  }
  ThreadFilter keep(thread_, &replay.index());
  if (SayNoThread(&keep, file->shown_name(), console)) return kExitUsage;
  // Machines get all rows, unless they say otherwise.
  const uint64_t limit =
      table_.as_text() ? table_.limit() : table_.given_limit.value_or(0);
  Table table = StateTable(replay, &keep, limit, table_.format());
  if (table_.as_text()) {
    output->AppendLines(
        absl::StrCat(StateSentence(replay, &keep), StateNotes(replay), "\n"));
    DropEmptyColumns(&table);
  }
  PrintTable(table, table_.format(), output);
  if (table_.as_text()) {
    output->AppendLines(table_.NotShown(StateThreadsOf(replay, &keep).size(),
                                        "thread", "threads"));
  }
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewStatesCommand() {
  return std::make_unique<StatesCommand>();
}

}  // namespace pymemrun
