#include "readers/pymemreport.h"

#include <errno.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "format/terminal_text.h"
#include "readers/heap_export.h"
#include "readers/heap_flame.h"
#include "readers/heap_history.h"
#include "readers/heap_report.h"
#include "readers/heap_stats.h"
#include "readers/report_options.h"
#include "readers/report_output.h"
#include "readers/resident_report.h"
#include "readers/run_facts.h"
#include "readers/run_summary.h"
#include "readers/timeline_report.h"
#include "readers/top_table.h"

namespace pymemrun {
namespace {

// One file's facts, what was told of its damage, and how reading it ended.
class FactsReader final : public RunFacts {
 public:
  // Reads `path` wholly. Null: it cannot be opened, or holds nothing readable;
  // *code becomes at least what the program is to exit with.
  static std::unique_ptr<FactsReader> Read(const std::string& path,
                                           const Console& console, int* code);

  void OnDamage(const StreamReader::Damage& damage) override {
    teller_.Say(damage);
  }
  // For a terminal.
  const std::string& shown_name() const { return shown_name_; }
  uint64_t file_bytes() const { return file_bytes_; }

 private:
  FactsReader(const Console* console, const std::string& shown_name)
      : shown_name_(shown_name), teller_(console, shown_name) {}

  const std::string shown_name_;
  DamageTeller teller_;
  uint64_t file_bytes_ = 0;
};

std::unique_ptr<FactsReader> FactsReader::Read(const std::string& path,
                                               const Console& console,
                                               int* code) {
  auto file = InputFile::Open(path);
  if (!file.ok()) {
    console.Say(
        absl::StrCat(TerminalText(path), ": ", file.status().message()));
    *code = std::max(*code, kExitFailed);
    return nullptr;
  }
  const std::string& name = (*file)->shown_name();
  auto reader = absl::WrapUnique(new FactsReader(&console, name));
  FdSource source((*file)->fd());
  CountedSource counted(&source);
  ReadResult result;
  const absl::Status status =
      ReadStream(&counted, StreamReader::Options(), reader.get(), &result);
  reader->file_bytes_ = std::max((*file)->size_bytes(), counted.bytes());
  *code = std::max(*code, SayResult(console, name, status, result));
  if (!status.ok() && !result.has_header) return nullptr;
  return reader;
}

void AddCost(const RunFacts& facts, OwnCost* cost) {
  const RunFacts::ObjectsMade made = facts.MadeObjects();
  cost->bytes += facts.TracingBytes();
  cost->frames_made += made.frames;
  cost->bound_made += made.bound;
}

int PrintTop(const ReportOptions& options, const Console& console,
             OutputBuffer* output) {
  ProfileTable profile(options.by);
  OwnCost cost;
  int code = kExitOk;
  bool any_calls = false;
  for (const std::string& path : options.files) {
    const auto facts = FactsReader::Read(path, console, &code);
    if (facts == nullptr) continue;
    if (!facts->HasCalls()) {
      console.Say(absl::StrCat(
          TerminalText(path),
          ": has no calls: the run was not made with --trace calls"));
      code = std::max(code, kExitUsage);
      continue;
    }
    any_calls = true;
    facts->AddTo(&profile);
    AddCost(*facts, &cost);
  }
  if (any_calls) {
    PrintTable(TopTable(profile, options.limit, cost), options.format, output);
  }
  return code;
}

void PrintSummaryText(const RunFacts& facts, uint64_t limit,
                      OutputBuffer* output) {
  constexpr size_t kLabelWidth = 16;
  for (const auto& [label, value] : DescribeRun(facts)) {
    output->Append(absl::StrCat(
        label, std::string(kLabelWidth - label.size(), ' '), value, "\n"));
  }
  if (!facts.HasCalls()) return;
  ProfileTable profile(PlaceKind::kLine);
  facts.AddTo(&profile);
  output->Append("\nlines with the most growth of RSS\n");
  OwnCost cost;
  AddCost(facts, &cost);
  PrintTable(TopTable(profile, limit, cost), TableFormat::kText, output);
}

// Adds the row of one file.
void AddSummary(const FactsReader& facts, const std::string& path,
                Table* table) {
  const bool is_first = table->rows.empty();
  table->rows.emplace_back();
  for (auto& [name, value] : SummaryValues(facts, path, facts.file_bytes())) {
    if (is_first) table->headings.push_back({name, name});
    table->rows.back().push_back(std::move(value));
  }
}

int PrintSummaries(const ReportOptions& options, const Console& console,
                   OutputBuffer* output) {
  const bool as_text = options.format == TableFormat::kText;
  int code = kExitOk;
  bool is_first = true;
  Table table;
  for (const std::string& path : options.files) {
    const auto facts = FactsReader::Read(path, console, &code);
    if (facts == nullptr) continue;
    if (!as_text) {
      AddSummary(*facts, path, &table);
      continue;
    }
    if (options.files.size() > 1) {
      output->Append(
          absl::StrCat(is_first ? "" : "\n", facts->shown_name(), "\n"));
    }
    is_first = false;
    PrintSummaryText(*facts, options.limit, output);
  }
  if (!table.rows.empty()) PrintTable(table, options.format, output);
  return code;
}

int Print(const ReportOptions& options, const Console& console,
          OutputBuffer* output) {
  switch (options.command) {
    case ReportOptions::Command::kTop:
      return PrintTop(options, console, output);
    case ReportOptions::Command::kSummary:
      return PrintSummaries(options, console, output);
    case ReportOptions::Command::kResident:
      return PrintResident(options, console, output);
    case ReportOptions::Command::kTimeline:
      return PrintTimeline(options, console, output);
    case ReportOptions::Command::kHeap:
      return PrintHeap(options, console, output);
    case ReportOptions::Command::kHistory:
      return PrintHistory(options, console, output);
    case ReportOptions::Command::kSnapshot:
      return PrintSnapshot(options, console, output);
    case ReportOptions::Command::kStats:
      return PrintStats(options, console, output);
    case ReportOptions::Command::kFlame:
      return PrintHeapFlame(options, console, output);
    case ReportOptions::Command::kExport:
      return PrintExport(options, console, output);
  }
  return kExitUsage;
}

int PrintToConsole(const ReportOptions& options, const Console& console) {
  OutputBuffer output(console.out);
  const int code = Print(options, console, &output);
  const int finish_code = FinishOutput(console, &output);
  return ReaderHasGone(console) ? kExitOk : std::max(code, finish_code);
}

int PrintToFile(const ReportOptions& options, const Console& console) {
  const std::string name = TerminalText(options.output);
  auto file = ReplacedFile::Create(options.output);
  if (!file.ok()) {
    console.Say(absl::StrCat(name, ": ", file.status().message()));
    return kExitUsage;
  }
  for (const std::string& path : options.files) {
    if (!(*file)->Replaces(path)) continue;
    console.Usage(absl::StrCat("-o ", name, " is one of the files to read"));
    return kExitUsage;
  }
  OutputBuffer output(file->get());
  const int code = Print(options, console, &output);
  absl::Status status = output.Flush();
  if (status.ok() && code != kExitOk && (*file)->ReplacesOne()) {
    console.Say(absl::StrCat(name, ": left as it was"));
    return code;
  }
  // With nothing readable there is no report.
  if (status.ok() && (*file)->bytes_written() > 0) status = (*file)->Commit();
  if (status.ok() || (*file)->last_errno() == EPIPE) return code;
  console.Say(absl::StrCat(name, ": ", TerminalText(status.message())));
  return std::max(code, kExitFailed);
}

}  // namespace

int RunPymemreport(const std::vector<std::string>& arguments,
                   const Console& console) {
  ReportOptions options;
  const std::optional<int> ended =
      ParseReportOptions(arguments, console, &options);
  if (ended.has_value()) return *ended;
  return options.output.empty() ? PrintToConsole(options, console)
                                : PrintToFile(options, console);
}

}  // namespace pymemrun
