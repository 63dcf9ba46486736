#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/across_runs/processes/process_family.h"
#include "readers/across_runs/processes/process_run.h"
#include "readers/across_runs/processes/process_table.h"
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
            "Lists the processes of a run: each one's peak, its share of the "
            "peak of all, and which of your lines held most.\n\nIf FILE is one "
            "file, run.pb, it also reads run.*.pb beside it: the processes "
            "that it started. PSS is the proportional set size: memory that "
            "processes share is divided among them. A process grows if its "
            "lowest RSS rose from each fifth of its time to the next.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddSeveral(app);
    table_.Add(app, 40, "A row for each process.", "processes");
    table_.AddSort(app);
    AddOwn(app);
    files_.AddOutput(app);
  }
  // It is one of the rows: the others are read, too.
  std::string KeepProcess() override { return ""; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  TableOptions table_;
};

// Reads one file after the other, and keeps a few figures and curves of each. A
// single FILE brings the files of its children, but only its own tree is kept.
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
    // Without the file that was named its children have no root.
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
  Table table = ProcessTable(family, peak, files_.pid, table_.made_limit(),
                             table_.format());
  if (table.rows.empty()) {
    console.Usage(absl::StrCat("--pid: no process has number ", files_.pid));
    return kExitUsage;
  }
  if (!table_.Choose(console, output, &table).has_value()) return kExitUsage;
  if (as_text) output->AppendLines(ProcessHeading(family, peak));
  PrintTable(table, table_.format(), output);
  if (!as_text) return code;
  const size_t all = files_.pid == 0 ? family.members().size() : 1;
  output->AppendLines(table_.NotShown(all, "process", "processes"));
  output->AppendLines(ProcessNotes(family));
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewProcessesCommand() {
  return std::make_unique<ProcessesCommand>();
}

}  // namespace pymemrun
