#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/calls/flow_table.h"
#include "readers/options/help_text.h"
#include "readers/report/call_attribution.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class FlowCommand final : public ReportCommand {
 public:
  FlowCommand()
      : ReportCommand(
            "flow", "what each function's calls changed RSS by",
            "Lists functions by what RSS changed by between their calls' begin "
            "and end, and by what of that was not in calls that they "
            "made.\n\nWhere page faults were recorded it is what the call's "
            "own thread did. In a recursion the outermost call counts. It "
            "needs a run that logged each event, or calls by their growth.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    attribution_.Add(app);
    table_.Add(app, 20, ": a row for each function");
    AddFiles(app, "functions of ", &choice_.view);
    AddThread(app, &choice_.thread);
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(
        app, {"--thread", "--file", "--limit", "--csv", "--json", "--output"});
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  CallAttribution attribution_;
  CallChoice choice_;
  TableOptions table_;
};

int FlowCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  FlowReplay replay(choice_);
  if (!attribution_.Read(file.get(), console)) return kExitUsage;
  attribution_.Give(&replay);
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.any()) {
    console.Say(absl::StrCat(file->shown_name(), ": ", replay.WhyNone()));
    return file->whole() ? kExitUsage : file->code();
  }
  if (SayNoThread(replay.threads(), file->shown_name(), console)) {
    return kExitUsage;
  }
  const std::string missing = replay.Missing();
  if (!missing.empty()) {
    console.Say(absl::StrCat(file->shown_name(), ": not counted: ", missing));
  }
  if (replay.not_kept() > 0) {
    console.Say(absl::StrCat(file->shown_name(), ": ",
                             Counted(replay.not_kept(), "more call"),
                             " found no room"));
  }
  attribution_.SayWhatCounts(replay, *file, console);
  PrintTable(replay.ToTable(table_.limit(), table_.as_text()), table_.format(),
             output);
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewFlowCommand() {
  return std::make_unique<FlowCommand>();
}

}  // namespace pymemrun
