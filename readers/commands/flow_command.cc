#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/calls/flow_table.h"
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
            "made.\n\nIn a recursion the outermost call counts. It needs a run "
            "that logged each event, or calls by their growth.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    table_.Add(app, 20, ": a row for each function");
    files_.AddOutput(app);
  }
  std::string Problem() const override { return table_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
};

int FlowCommand::Run(const Console& console, OutputBuffer* output) {
  const auto file = RereadFile::Open(files_.paths[0], console);
  if (file == nullptr) return kExitFailed;
  FlowReplay replay;
  const auto threads = ThreadDrss::Read(file.get());
  replay.SetThreads(threads.get());
  if (!file->Read(&replay)) return kExitFailed;
  if (!replay.any()) {
    console.Say(absl::StrCat(file->shown_name(), ": ", replay.WhyNone()));
    return file->whole() ? kExitUsage : file->code();
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
  Table table = replay.ToTable(table_.limit());
  if (table_.as_text()) DropEmptyColumns(&table);
  PrintTable(table, table_.format(), output);
  return file->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewFlowCommand() {
  return std::make_unique<FlowCommand>();
}

}  // namespace pymemrun
