#include "readers/heap_stats.h"

#include "readers/heap_report.h"
#include "readers/table.h"
#include "readers/whole_number.h"

namespace pymemrun {
namespace {

// As the text has them.
Table SizeTable(const HeapSizeBins& bins) {
  Table table;
  table.headings = {{"size_from"}, {"size_to"}, {"count"}, {"total_bytes"}};
  uint64_t low = 1;
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].count == 0) continue;
    const uint64_t high = uint64_t{1} << i;
    table.rows.push_back({low, high, bins[i].count, bins[i].bytes});
    low = high + 1;
  }
  return table;
}

}  // namespace

bool HeapSizes::OnHeap(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const HeapEvent& event = events[i];
    if (event.is_free || model().IsTracing(event.stack)) continue;
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
    output->Append(HeapSizeReport(sizes.Bins()));
  } else {
    PrintTable(SizeTable(sizes.Bins()), options.format, output);
  }
  return code;
}

}  // namespace pymemrun
