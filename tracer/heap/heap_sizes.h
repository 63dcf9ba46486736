// How many allocations of each size there were (--heap stats). Frees do not
// count.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_SIZES_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_SIZES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/own_page.h"

namespace pymemrun {

class HeapSizes {
 public:
  // Bin k holds the sizes above 2^(k-1) up to 2^k; bin 0 also size 0.
  static constexpr uint32_t kBins = 64;
  static uint32_t BinOf(size_t size) {
    return size <= 1 ? 0
                     : 64 - static_cast<uint32_t>(__builtin_clzll(size - 1));
  }

  // Touches the counts, and sees to it that forked children find their own.
  // Returns false with errno set.
  bool Create();
  // Under the GIL.
  void Count(size_t size) {
    Bin& bin = table_.under_gil[BinOf(size)];
    bin.count.store(bin.count.load(std::memory_order_relaxed) + 1,
                    std::memory_order_relaxed);
    bin.bytes.store(bin.bytes.load(std::memory_order_relaxed) + size,
                    std::memory_order_relaxed);
  }
  // Any thread.
  void CountAside(size_t size) {
    Bin& bin = table_.aside[BinOf(size)];
    bin.count.fetch_add(1, std::memory_order_relaxed);
    bin.bytes.fetch_add(size, std::memory_order_relaxed);
  }

  // Forgets what was counted. Under the GIL.
  void Clear();
  // What was counted so far.
  uint64_t count(uint32_t bin) const;
  uint64_t bytes(uint32_t bin) const;

 private:
  struct Bin {
    std::atomic<uint64_t> count;
    std::atomic<uint64_t> bytes;
  };
  struct alignas(kOwnPage) Table {
    Bin under_gil[kBins];
    Bin aside[kBins];
  };
  Table table_ = {};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_SIZES_H_
