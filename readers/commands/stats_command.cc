#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "readers/heap/heap_reading.h"
#include "readers/heap/heap_stats.h"
#include "readers/heap/heap_table.h"
#include "readers/output/table.h"
#include "readers/output/whole_number.h"
#include "readers/report/report_command.h"

namespace pymemrun {
namespace {

// As the text has them; of a sampled run with one standard error each.
Table SizeTable(const HeapSizes& sizes) {
  const HeapSizeBins bins = sizes.Bins();
  Table table;
  table.headings = {{"size_from"}, {"size_to"}, {"count"}, {"total_bytes"}};
  if (sizes.sampled()) {
    table.headings.insert(table.headings.end(),
                          {{"error_count"}, {"error_bytes"}});
  }
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

class StatsCommand final : public ReportCommand {
 public:
  StatsCommand()
      : ReportCommand("stats", "allocations by size",
                      "Counts allocations by size, and suggests rates to "
                      "sample them at. It needs a run with heap events.") {}

  void AddOptions(CLI::App* app) override {
    files_.AddOne(app);
    format_.Add(app, ": a row for each range of sizes");
    files_.AddOutput(app);
    Refuse(app, "--thread", "sizes are counted of all threads together");
  }
  std::string Problem() const override { return format_.Problem(); }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  FormatOptions format_;
};

int StatsCommand::Run(const Console& console, OutputBuffer* output) {
  HeapSizes sizes;
  int code = kExitOk;
  if (!ReadHeap(files_.paths[0], console, &sizes, &code)) return code;
  if (format_.as_text()) {
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
    PrintTable(SizeTable(sizes), format_.format(), output);
  }
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewStatsCommand() {
  return std::make_unique<StatsCommand>();
}

}  // namespace pymemrun
