#include "format/batches/heap_size_table.h"

#include <algorithm>
#include <vector>

namespace pymemrun {
namespace {

// Some 10,000 samples give a share of 1 % of a bin with an error of some 10 %.
// More cost time and file size without telling more.
constexpr uint64_t kSamplesOfABin = 10000;
constexpr size_t kRuleWidth = 43;

struct TableRow {
  std::string size, count, bytes;
};

std::string Padded(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

// A row begins behind the last row that is shown. So the table has no gaps even
// where empty bins are left out.
std::vector<TableRow> RowsOf(const HeapSizeBins& bins) {
  std::vector<TableRow> rows = {{"Size", "Count", "Bytes"}};
  uint64_t low = LowestSize(bins);
  for (size_t k = 0; k < bins.size(); ++k) {
    if (bins[k].count == 0) continue;
    const uint64_t high = uint64_t{1} << k;
    rows.push_back({std::to_string(low) + " - " + std::to_string(high),
                    std::to_string(bins[k].count),
                    std::to_string(bins[k].bytes)});
    low = high + 1;
  }
  return rows;
}

// How often the probability is divided by ten.
int TensOf(const HeapSizeBin& bin) {
  int tens = 0;
  for (uint64_t samples = bin.count; samples > kSamplesOfABin; samples /= 10) {
    ++tens;
  }
  return tens;
}

// REQUIRES: tens > 0. Plain decimals as long as they are short.
std::string ProbabilityText(int tens) {
  return tens <= 2 ? (tens == 1 ? "0.1" : "0.01")
                   : "1e-" + std::to_string(tens);
}

}  // namespace

uint64_t LowestSize(const HeapSizeBins& bins) {
  return bins[0].count != 0 ? 0 : 1;
}

// The binary logarithm, rounded up. The last bin also takes all that is larger.
size_t HeapSizeBinOf(uint64_t size) {
  size_t bin = 0;
  while (bin < HeapSizeBins().size() - 1 && size > uint64_t{1} << bin) ++bin;
  return bin;
}

// Two passes: the first finds the widths of the columns.
std::string HeapSizeTable(const HeapSizeBins& bins) {
  const std::vector<TableRow> rows = RowsOf(bins);
  size_t size = 0, count = 0, bytes = 0;
  for (const TableRow& row : rows) {
    size = std::max(size, row.size.size());
    count = std::max(count, row.count.size());
    bytes = std::max(bytes, row.bytes.size());
  }
  std::string text = std::string(kRuleWidth, '-') + "\nHEAP USAGE SUMMARY\n";
  for (const TableRow& row : rows) {
    text += Padded(row.size, size) + ' ' + Padded(row.count, count) + ' ' +
            Padded(row.bytes, bytes) + '\n';
  }
  return text;
}

// A bin of more than 10,000 allocations gets a probability of 0.1, one of ten
// times as many 0.01, and so on. Larger blocks matter more, so no class may
// have a lower probability than a class of smaller blocks. Hence the bins are
// visited from the largest down, and each is divided at least as often as those
// above it. Neighbours of one probability become one class; sizes above the
// last class are all recorded.
std::string SuggestedHeapRates(const HeapSizeBins& bins) {
  std::array<int, HeapSizeBins().size()> tens = {};
  int largest = 0;
  for (size_t k = bins.size(); k-- > 0;) {
    largest = std::max(largest, TensOf(bins[k]));
    tens[k] = largest;
  }
  std::string classes;
  for (size_t k = 0; k + 1 < bins.size(); ++k) {
    if (tens[k] == tens[k + 1]) continue;
    if (!classes.empty()) classes += ", ";
    // The bin's largest size is its own; bounds of classes are not.
    classes +=
        std::to_string((uint64_t{1} << k) + 1) + ':' + ProbabilityText(tens[k]);
  }
  return classes.empty() ? classes : '{' + classes + '}';
}

std::string HeapSizeReport(const HeapSizeBins& bins) {
  const std::string rates = SuggestedHeapRates(bins);
  return HeapSizeTable(bins) +
         (rates.empty()
              ? "All of these can be recorded: --heap all\n"
              : "For about 10000 samples of each row, or fewer: --heap-rates "
                "'" +
                    rates + "'\n");
}

}  // namespace pymemrun
