#include "tracer/heap/heap_sizes.h"

#include <sys/mman.h>

#include <initializer_list>

#include "tracer/base/own_memory.h"

namespace pymemrun {

// A forked child starts at zero: the kernel empties these pages
// (MADV_WIPEONFORK of madvise(2)).
bool HeapSizes::Create() {
  if (madvise(&table_, sizeof(table_), MADV_WIPEONFORK) != 0) return false;
  table_.aside[0].count.store(0, std::memory_order_relaxed);  // one page
  OwnMemory::Add(&table_, sizeof(table_));
  return true;
}

void HeapSizes::Clear() {
  for (Bin* bins : {table_.under_gil, table_.aside}) {
    for (uint32_t i = 0; i < kBins; ++i) {
      bins[i].count.store(0, std::memory_order_relaxed);
      bins[i].bytes.store(0, std::memory_order_relaxed);
    }
  }
}

uint64_t HeapSizes::count(uint32_t bin) const {
  return table_.under_gil[bin].count.load(std::memory_order_relaxed) +
         table_.aside[bin].count.load(std::memory_order_relaxed);
}

uint64_t HeapSizes::bytes(uint32_t bin) const {
  return table_.under_gil[bin].bytes.load(std::memory_order_relaxed) +
         table_.aside[bin].bytes.load(std::memory_order_relaxed);
}

}  // namespace pymemrun
