#include "readers/heap_stats.h"

#include <string>
#include <utility>
#include <vector>

#include "readers/heap_report.h"
#include "readers/heap_table.h"
#include "readers/table.h"
#include "readers/whole_number.h"

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

}  // namespace

bool HeapSizes::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const HeapEvent& event = events[i];
    // What mremap moves was allocated before.
    if (event.is_free || event.allocator == HEAP_MREMAP ||
        model().IsTracing(event.stack)) {
      continue;
    }
    sums_[HeapSizeBinOf(event.size)].Add(event.size,
                                         model().WeightNow(event.size));
  }
  return HeapReplay::OnHeap(events, 0);
}

HeapSizeBins HeapSizes::Bins() const {
  HeapSizeBins bins;
  for (size_t i = 0; i < bins.size(); ++i) {
    bins[i].count = WholeNumber(sums_[i].count);
    bins[i].bytes = WholeNumber(sums_[i].bytes);
  }
  return bins;
}

int PrintStats(const ReportOptions& options, const Console& console,
               OutputBuffer* output) {
  HeapSizes sizes;
  int code = kExitOk;
  if (!ReadHeap(options.files[0], console, &sizes, &code)) return code;
  if (options.format == TableFormat::kText) {
    output->Append(HeapSizeReport(sizes.Bins()) + EstimateText(sizes));
  } else {
    PrintTable(SizeTable(sizes), options.format, output);
  }
  return code;
}

}  // namespace pymemrun
