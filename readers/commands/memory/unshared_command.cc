#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/across_runs/unshared/copy_ledger.h"
#include "readers/across_runs/unshared/unshared_table.h"
#include "readers/options/help_text.h"
#include "readers/report/report_command.h"
#include "readers/run/forked_run.h"
#include "readers/run/reread_file.h"
#include "readers/run/run_files.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class UnsharedCommand final : public ReportCommand {
 public:
  UnsharedCommand()
      : ReportCommand(
            "unshared", "which line or gc un-shared a forked process's memory",
            "Lists which lines, and which garbage collections, un-shared the "
            "memory that forked processes shared with their parents.\n\nA "
            "forked process starts with its parent's pages. Its first write to "
            "a page makes a copy. Garbage collection writes to every object "
            "that it visits. After gc.freeze() it skips the objects that "
            "existed then. If FILE is one file, run.pb, it also reads run.*.pb "
            "beside it, as `processes` does.") {}

  void AddOptions(CLI::App* app) override {
    needs_.Add(Recorded::kFaults);
    files_.AddSeveral(app);
    table_.Add(app, 20, "A row for each place in each process.");
    table_.AddSort(app);
    AddGroupBy(app, &by_,
               {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
                GroupBy::kFile, GroupBy::kPackage},
               "Group by line (default; your code's), library-line (the "
               "innermost), function (Python's), file, package.");
    AddFilesOfPlaces(app, &table_.view);
    AddOwn(app);
    files_.AddOutput(app);
    SetUsualOptions(app, {"--by", "--limit", "--sort", "--csv", "--output"});
  }
  // The others are read, too: what was shared is theirs.
  std::string KeepProcess() override { return ""; }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  struct OneFile {
    std::string path, shown_name;
    std::unique_ptr<CopyLedger> ledger;
  };
  std::vector<OneFile> ReadAll(const Console& console, int* code) const;
  bool Choose(const Console& console, OutputBuffer* output,
              Table* places) const;

  GroupBy by_ = GroupBy::kLine;
  TableOptions table_;
};

// Keeps the first file's process and those that descend from it. Kept ones are
// moved to the front: files[0] to files[kept - 1].
template <typename Files>
void KeepTree(Files* files) {
  size_t kept = 1;
  for (size_t i = 0; i < kept; ++i) {
    for (size_t j = kept; j < files->size(); ++j) {
      if (IsParent((*files)[i].ledger->header(),
                   (*files)[j].ledger->header())) {
        std::swap((*files)[kept++], (*files)[j]);
      }
    }
  }
  files->resize(kept);
}

// Ledgers stay in memory, files do not: a server may have forked hundreds of
// workers.
std::vector<UnsharedCommand::OneFile> UnsharedCommand::ReadAll(
    const Console& console, int* code) const {
  const std::vector<std::string> named = EachOnce(files_.paths);
  const bool one = named.size() == 1;
  std::vector<OneFile> files;
  for (const std::string& path : one ? WithChildren(named[0]) : named) {
    const auto file = RereadFile::Open(path, console);
    auto ledger = std::make_unique<CopyLedger>();
    const bool read = file != nullptr && file->Read(ledger.get());
    *code = std::max(*code, read ? file->code() : kExitFailed);
    if (read) {
      files.push_back({path, file->shown_name(), std::move(ledger)});
    } else if (one && files.empty()) {
      return files;
    }
  }
  if (one) KeepTree(&files);
  return files;
}

// Asks the parents' files which of the first pages were theirs. Each parent is
// read once for all of its children. Without the parent's file all count as the
// parent's.
template <typename Files>
void SettleAll(const Console& console, const Files& files) {
  for (const auto& parent : files) {
    std::vector<CopyLedger*> children;
    for (const auto& file : files) {
      if (file.ledger->has_early() &&
          IsParent(parent.ledger->header(), file.ledger->header())) {
        children.push_back(file.ledger.get());
      }
    }
    if (children.empty()) continue;
    const auto file = RereadFile::Open(parent.path, console);
    ParentPages pages(parent.ledger->header(), children);
    // What is wrong with it has been said.
    if (file != nullptr && file->ReadAgain(&pages)) pages.Finish();
  }
  for (const auto& file : files) {
    // Does nothing for a ledger that its parent's file has settled.
    file.ledger->SettleEarly([](uint64_t) { return true; });
  }
}

// The forked processes that are known to have had pages of their parents, by
// start time. Says what is not known.
template <typename Files>
std::vector<UnsharedPages> KnownOf(const Files& files, GroupBy by,
                                   const Console& console) {
  std::vector<UnsharedPages> processes;
  size_t forked = 0, brief = 0;
  for (const auto& file : files) {
    const Header& header = file.ledger->header();
    if (!header.forked()) continue;
    ++forked;
    if (file.ledger->knows_parent()) {
      processes.emplace_back(file.ledger.get(), file.shown_name, by);
    } else if (header.page_period() != 0) {
      ++brief;
    } else {
      console.Say(absl::StrCat(
          file.shown_name, ": ",
          header.page_scan()
              ? "pages were scanned, so who wrote to them is unknown"
              : LackText(Recorded::kFaults)));
    }
  }
  if (brief > 0) {
    console.Say(absl::StrCat(
        Counted(brief, "forked process", "forked processes"),
        " ended before the pages shared with their parents were known"));
  }
  if (forked == 0) {
    console.Say(absl::StrCat(files[0].shown_name,
                             ": no process was forked from a traced one"));
  }
  std::stable_sort(processes.begin(), processes.end(),
                   [](const UnsharedPages& a, const UnsharedPages& b) {
                     return a.ledger->header().start_realtime_ns() <
                            b.ledger->header().start_realtime_ns();
                   });
  return processes;
}

// Those that are left out are no row, those beyond the limit are one. False: a
// usage error, which has been said.
bool UnsharedCommand::Choose(const Console& console, OutputBuffer* output,
                             Table* places) const {
  TableOptions all = table_;
  all.given_limit = 0;
  if (!all.Choose(console, output, places).has_value()) return false;
  FoldUnshared(table_.limit(), places);
  return true;
}

// The option --pid chooses at the end, as other processes may be parents.
int UnsharedCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const std::vector<OneFile> files = ReadAll(console, &code);
  if (files.empty()) return code;
  SettleAll(console, files);
  std::vector<UnsharedPages> processes = KnownOf(files, by_, console);
  if (files_.pid != 0 && !processes.empty()) {
    const auto is_other = [this](const UnsharedPages& process) {
      return process.ledger->header().pid() != files_.pid;
    };
    processes.erase(
        std::remove_if(processes.begin(), processes.end(), is_other),
        processes.end());
    if (processes.empty()) {
      console.Usage(
          absl::StrCat("--pid: no forked process has number ", files_.pid));
    }
  }
  if (processes.empty()) return code == kExitOk ? kExitUsage : code;
  const bool as_text = table_.as_text();
  Table places =
      UnsharedPlaces(processes, table_.made_limit(), table_.format());
  if (table_.view.any() && !Choose(console, output, &places)) return kExitUsage;
  if (as_text) {
    output->AppendLines(UnsharedHeading(processes));
    PrintTable(UnsharedProcesses(processes, table_.limit()), table_.format(),
               output);
    output->AppendLines(
        table_.NotShown(processes.size(), "process", "processes"));
    output->AppendLines("\n");
  }
  PrintTable(places, table_.format(), output);
  if (as_text) output->AppendLines(UnsharedNotes(processes));
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewUnsharedCommand() {
  return std::make_unique<UnsharedCommand>();
}

}  // namespace pymemrun
