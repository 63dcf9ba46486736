// The table of how many allocations of each size there were, and the sampling
// rates that it suggests. Plain C++: the launcher has it too.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_SIZE_TABLE_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_SIZE_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace pymemrun {

// Allocations of more than 2^(k-1) and up to 2^k bytes, for bin k; bin 0 has
// sizes 0 and 1.
struct HeapSizeBin {
  uint64_t count = 0;
  uint64_t bytes = 0;
};
using HeapSizeBins = std::array<HeapSizeBin, 64>;

// The bin of a size.
size_t HeapSizeBinOf(uint64_t size);

// What the first row that is shown begins with.
uint64_t LowestSize(const HeapSizeBins& bins);

// Several lines; bins without allocations are left out, and the next row begins
// where the last one shown ended.
std::string HeapSizeTable(const HeapSizeBins& bins);

// Size classes as --heap-rates takes them: the probabilities are powers of ten
// that rise with the size, and such that no bin gives more than some 10,000
// samples. Empty where all allocations can be recorded.
std::string SuggestedHeapRates(const HeapSizeBins& bins);

// The table, and what it suggests, as it is printed.
std::string HeapSizeReport(const HeapSizeBins& bins);

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_SIZE_TABLE_H_
