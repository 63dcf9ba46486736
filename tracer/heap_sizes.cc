#include "tracer/heap_sizes.h"

#include <sys/mman.h>

#include "tracer/own_memory.h"

namespace pymemrun {

HeapSizes::Table HeapSizes::g_table;

bool HeapSizes::Create() {
  if (madvise(&g_table, sizeof(g_table), MADV_WIPEONFORK) != 0) return false;
  g_table.aside[0].count.store(0, std::memory_order_relaxed);  // one page
  OwnMemory::Add(&g_table, sizeof(g_table));
  return true;
}

void HeapSizes::Clear() {
  for (Bin* bins : {g_table.under_gil, g_table.aside}) {
    for (uint32_t i = 0; i < kBins; ++i) {
      bins[i].count.store(0, std::memory_order_relaxed);
      bins[i].bytes.store(0, std::memory_order_relaxed);
    }
  }
}

uint64_t HeapSizes::count(uint32_t bin) {
  return g_table.under_gil[bin].count.load(std::memory_order_relaxed) +
         g_table.aside[bin].count.load(std::memory_order_relaxed);
}

uint64_t HeapSizes::bytes(uint32_t bin) {
  return g_table.under_gil[bin].bytes.load(std::memory_order_relaxed) +
         g_table.aside[bin].bytes.load(std::memory_order_relaxed);
}

}  // namespace pymemrun
