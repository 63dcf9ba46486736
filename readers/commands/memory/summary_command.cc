#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/answer/memory/memory_split.h"
#include "readers/options/help_text.h"
#include "readers/options/option_values.h"
#include "readers/output/table.h"
#include "readers/output/whole_number.h"
#include "readers/replay/heap/heap_reading.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/heap/heap_stats.h"
#include "readers/replay/heap/heap_table.h"
#include "readers/replay/moments/moment_reading.h"
#include "readers/replay/summary/facts_reader.h"
#include "readers/replay/summary/run_summary.h"
#include "readers/replay/threads/caused_growth.h"
#include "readers/report/report_command.h"

namespace pymemrun {
namespace {

RunPeak PeakOf(const RunMoments& moments) {
  return {moments.RssPeak().time_us, moments.PeakBytes()};
}

// What PrintGrowth() charges: `caused` is what threads did, if that is asked
// for and known.
struct Growth {
  const ThreadReplay* caused;
  const std::string& thread;
};

// The table also has what tracing itself cost.
void PrintGrowth(const FactsReader& facts, const Growth& growth, uint64_t limit,
                 OutputBuffer* output) {
  const bool is_caused = growth.caused != nullptr;
  ProfileTable profile(GroupBy::kLine, is_caused ? Attribution::kCaused
                                                 : Attribution::kObserved);
  facts.AddTo(&profile);
  if (is_caused) AddCaused(*growth.caused, growth.thread, &profile);
  output->Append("\nlines with the most growth of RSS\n");
  OwnCost cost;
  facts.AddCost(&cost);
  PrintTable(TopTable(profile, limit, cost), TableFormat::kText, output);
}

// Who holds most at the peak. False: no block is known.
bool PrintHeld(const RunMoments& moments, RereadFile* file, uint64_t limit,
               OutputBuffer* output) {
  const uint64_t peak_us = moments.RssPeak().time_us;
  ResidentReplay pages(peak_us, moments.hindsight());
  HeapMoments heap({{HeapMoment::kTime, peak_us}});
  heap.BeginWithNothing();
  if (!file->Read(&pages) || !file->Read(&heap)) return false;
  const auto rss = static_cast<double>(moments.PeakBytes());
  const MemorySplit split = SplitMemory(pages, &heap, rss);
  Table table;
  table.headings = {{"line", "line", CellLook::kName},
                    {"held_bytes", "held", CellLook::kBytes},
                    {"share", "of RSS", CellLook::kShare}};
  // Places are sorted, most bytes first.
  for (const PlaceHolding& holding : split.places) {
    if (limit != 0 && table.rows.size() >= limit) break;
    table.rows.push_back({LabelOf(holding.place), WholeNumber(holding.bytes),
                          rss > 0 ? holding.bytes / rss : 0.0});
  }
  output->Append("\nlines that hold most at the peak\n");
  PrintTable(table, TableFormat::kText, output);
  return true;
}

void PrintFacts(const FactsReader& facts, const RunPeak& peak,
                OutputBuffer* output) {
  constexpr size_t kLabelWidth = 16;
  for (const auto& [label, value] : DescribeRun(facts, peak)) {
    const std::string line = absl::StrCat(
        label, std::string(kLabelWidth - label.size(), ' '), value);
    output->Append(output->terminal().Wrapped(line + "\n", kLabelWidth));
  }
}

// Adds the row of one file.
void AddSummary(const FactsReader& facts, const RunPeak& peak,
                const std::string& path, Table* table) {
  const bool is_first = table->rows.empty();
  table->rows.emplace_back();
  for (auto& [name, value] :
       SummaryValues(facts, path, facts.file_bytes(), peak)) {
    if (is_first) table->headings.push_back({name, name});
    table->rows.back().push_back(std::move(value));
  }
}

// As the text has them; of a sampled run with one standard error each.
Table SizeTable(const HeapSizes& sizes) {
  const HeapSizeBins bins = sizes.Bins();
  Table table;
  table.headings = {{"size_from"}, {"size_to"}, {"count"}, {"total_bytes"}};
  if (sizes.sampled()) {
    table.headings.insert(table.headings.end(),
                          {{"error_count"}, {"error_bytes"}});
  }
  // Bin i has sizes up to 2^i. A range begins after the last one that was
  // printed, so empty bins belong to the next.
  uint64_t low = LowestSize(bins);
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].count == 0) continue;
    const uint64_t high = uint64_t{1} << i;
    std::vector<Cell> row = {low, high, bins[i].count, bins[i].bytes};
    if (sizes.sampled()) {
      row.emplace_back(WholeNumber(sizes.sums()[i].CountError()));
      row.emplace_back(WholeNumber(sizes.sums()[i].BytesError()));
    }
    table.rows.push_back(std::move(row));
    low = high + 1;
  }
  return table;
}

std::string EstimateText(const HeapSizes& sizes) {
  HeapSums all;
  for (const HeapSums& sums : sizes.sums()) all.Add(sums);
  return HeapEstimateText(sizes, all.recorded);
}

class SummaryCommand final : public ReportCommand {
 public:
  SummaryCommand()
      : ReportCommand(
            "summary",
            "a run's main figures: peak, VmHWM, losses, CPU, top lines",
            "Prints a run's main figures, and which lines hold most at the "
            "peak. Without heap events, or with --thread or "
            "--thread-attribution, it lists where RSS grew. With --stats it "
            "counts allocations by size.") {}

  std::vector<OldName> OldNames() const override {
    return {{"stats",
             {"--stats"},
             "Counts allocations by size, and suggests rates to sample them "
             "at."}};
  }

  void AddOptions(CLI::App* app) override {
    files_.AddSeveral(app);
    table_.Add(app, 5,
               words().empty() ? "The same named values for each FILE."
                               : "A row for each range of sizes.");
    AddThread(app, &thread_);
    AddAttribution(app, &attribution_,
                   "Default with --thread: caused, if the run has page "
                   "faults.");
    app->add_flag_callback(
        "--stats",
        [this] {
          stats_ = true;
          files_.count = 1;
        },
        "Count allocations by size instead, and suggest rates to sample them "
        "at.");
    needs_.AddWith("--stats", Recorded::kHeap);
    needs_.AddWith("--thread", Recorded::kGrowth);
    needs_.AddWith("--thread-attribution caused", Recorded::kFaults);
    files_.AddOutput(app);
    Exclude(app, {"--thread"}, {"--csv", "--json"},
            "the values cover the whole process");
    // Sizes are of all threads.
    Exclude(app, {"--stats"}, {"--limit", "--thread", "--thread-attribution"});
    SetUsualOptions(
        app, {"--limit", "--stats", "--thread", "--csv", "--json", "--output"});
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  // False: what was asked for is not there, which has been said.
  bool PrintText(const FactsReader& facts, const RunMoments& moments,
                 RereadFile* file, const Console& console,
                 OutputBuffer* output) const;
  int PrintStats(const Console& console, OutputBuffer* output) const;

  bool stats_ = false;
  TableOptions table_;
  std::string thread_;
  std::optional<Attribution> attribution_;
};

// Facts, then one table: who holds the peak if blocks are known, otherwise
// where RSS grew. --thread and --thread-attribution ask for growth.
bool SummaryCommand::PrintText(const FactsReader& facts,
                               const RunMoments& moments, RereadFile* file,
                               const Console& console,
                               OutputBuffer* output) const {
  const bool asked = attribution_ == Attribution::kCaused;
  const bool wanted = asked || (!attribution_.has_value() && !thread_.empty());
  const auto caused = wanted ? ReadCaused(file, moments) : nullptr;
  // `asked`: --thread-attribution caused. `wanted`: that, or --thread, for
  // which causes are the default. The message names what would have been
  // enough.
  if (caused == nullptr && (asked || (!thread_.empty() && !facts.HasCalls()))) {
    const Recorded lacking = asked    ? Recorded::kFaults
                             : wanted ? Recorded::kGrowth
                                      : Recorded::kCalls;
    console.Say(absl::StrCat(facts.shown_name(), ": ", LackText(lacking)));
    return false;
  }
  PrintFacts(facts, PeakOf(moments), output);
  if (!wanted && !attribution_.has_value() && facts.HasHeap() &&
      PrintHeld(moments, file, table_.limit(), output)) {
    return true;
  }
  if (facts.HasCalls() || caused != nullptr) {
    PrintGrowth(facts, {caused.get(), thread_}, table_.limit(), output);
  }
  return true;
}

int SummaryCommand::PrintStats(const Console& console,
                               OutputBuffer* output) const {
  HeapSizes sizes;
  int code = kExitOk;
  if (!ReadHeap(files_.paths[0], console, &sizes, &code)) return code;
  if (table_.as_text()) {
    std::string text = HeapSizeReport(sizes.Bins());
    // It begins with a rule.
    const Terminal& terminal = output->terminal();
    const size_t width = text.find('\n');
    if (terminal.fits() && width > terminal.columns) {
      text.erase(0, width - terminal.columns);
    }
    output->AppendLines(text);
    output->AppendLines(EstimateText(sizes));
  } else {
    PrintTable(SizeTable(sizes), table_.format(), output);
  }
  return code;
}

// A file that cannot be read does not keep the others from being shown. All
// rows for machines are one table.
int SummaryCommand::Run(const Console& console, OutputBuffer* output) {
  if (stats_) return PrintStats(console, output);
  const bool as_text = table_.as_text();
  int code = kExitOk;
  bool is_first = true;
  Table table;
  for (const std::string& path : files_.paths) {
    const auto file = RereadFile::Open(path, console);
    if (file != nullptr) file->LeaveLossesToReport();
    const auto moments =
        file == nullptr ? nullptr : RunMoments::Of(ReadingOf(file.get()));
    if (moments == nullptr) {
      code = kExitFailed;
      continue;
    }
    const auto facts =
        FactsReader::ReadAgain(file.get(), console, &code, thread_);
    if (facts == nullptr) continue;
    if (!as_text) {
      AddSummary(*facts, PeakOf(*moments), path, &table);
      continue;
    }
    if (files_.paths.size() > 1) {
      output->Append(
          absl::StrCat(is_first ? "" : "\n", facts->shown_name(), "\n"));
    }
    is_first = false;
    if (!PrintText(*facts, *moments, file.get(), console, output)) {
      code = std::max(code, kExitUsage);
    }
  }
  if (!table.rows.empty()) PrintTable(table, table_.format(), output);
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewSummaryCommand() {
  return std::make_unique<SummaryCommand>();
}

}  // namespace pymemrun
