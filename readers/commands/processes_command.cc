#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "readers/processes/process_family.h"
#include "readers/processes/process_run.h"
#include "readers/processes/process_table.h"
#include "readers/report/report_command.h"
#include "readers/run/reread_file.h"
#include "readers/run/run_files.h"

namespace pymemrun {
namespace {

class ProcessesCommand final : public ReportCommand {
 public:
  ProcessesCommand()
      : ReportCommand(
            "processes", "which process took the memory, and which one leaks",
            "Lists the processes of a run: the peak of each, its part of the "
            "peak of all, and the line of yours that held "
            "most.\n\nOf one FILE, run.pb, it also reads run.*.pb beside it: "
            "the processes that it began. PSS is the proportional set size: "
            "what processes share is divided among them. A process grows where "
            "its least RSS rose from each fifth of its time to the next.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddSeveral(app);
    table_.Add(app, 40, "A row for each process.");
    AddOwn(app);
    files_.AddOutput(app);
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
};

int ProcessesCommand::Run(const Console& console, OutputBuffer* output) {
  const std::vector<std::string> named = EachOnce(files_.paths);
  const bool one = named.size() == 1;
  int code = kExitOk;
  std::vector<ProcessRun> runs;
  std::string root;
  for (const std::string& path : one ? WithChildren(named[0]) : named) {
    const auto file = RereadFile::Open(path, console);
    std::optional<ProcessRun> run;
    if (file != nullptr) run = ReadProcess(file.get());
    code = std::max(code, run.has_value() ? file->code() : kExitFailed);
    if (!run.has_value() && one && runs.empty()) return code;
    if (!run.has_value()) continue;
    if (root.empty()) root = run->file;
    runs.push_back(*std::move(run));
  }
  if (runs.empty()) return code;
  ProcessFamily family(std::move(runs));
  if (one) family.KeepTreeOf(root);
  const FamilyPeak peak = family.Peak();
  const bool as_text = table_.as_text();
  if (as_text) output->AppendLines(ProcessHeading(family, peak));
  PrintTable(ProcessTable(family, peak, table_.limit(), table_.format()),
             table_.format(), output);
  if (!as_text) return code;
  output->AppendLines(
      table_.NotShown(family.members().size(), "process", "processes"));
  output->AppendLines(ProcessNotes(family));
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewProcessesCommand() {
  return std::make_unique<ProcessesCommand>();
}

}  // namespace pymemrun
