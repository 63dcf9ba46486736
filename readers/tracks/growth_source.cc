// The tracks of memory growth: which thread added memory, when, and in which
// own function. From page faults, or else from allocations.
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "readers/replay/heap/heap_weights.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

// Page faults are the better evidence, so allocations count only in runs
// without them. Scans do not show when a page came.
class GrowthTracks final : public ReplayVisitor {
 public:
  GrowthTracks(const SourceOptions&, TrackSink* sink)
      : sink_(*sink), threads_(&index(), sink) {}

  void OnHeader(const Header& header) override {
    page_bytes_ = header.page_bytes();
    by_pages_ = header.page_period() > 0 && !header.page_scan();
  }
  void OnHeapRates(const HeapRates& rates) override {
    rate_ = weights_.NumberOf(rates);
  }
  bool OnPages(const PageEntry* entries, size_t count) override {
    for (size_t i = 0; by_pages_ && i < count; ++i) {
      const PageEntry& entry = entries[i];
      if (!IsComing(entry.action)) continue;
      Grow(entry.thread, entry.time_us, entry.stack,
           static_cast<double>(entry.pages) * entry.weight * page_bytes_);
    }
    return true;
  }
  bool OnHeap(const HeapEvent* events, size_t count) override {
    for (size_t i = 0; !by_pages_ && i < count; ++i) {
      const HeapEvent& event = events[i];
      if (event.is_free || IsMapping(event.allocator)) continue;
      Grow(event.thread, event.time_us, event.stack,
           static_cast<double>(event.size) *
               weights_.WeightOf(rate_, event.size));
    }
    return true;
  }
  void Finish() override {}

 private:
  // C code may never touch what it maps.
  static bool IsMapping(HeapAllocator allocator) {
    return allocator == HEAP_MMAP || allocator == HEAP_MREMAP;
  }
  void Grow(uint32_t thread, uint64_t time_us, uint32_t stack, double bytes) {
    if (thread == 0) return;
    sink_.Grow(threads_.TrackOf(thread), time_us, NameOf(stack), bytes);
  }
  uint32_t NameOf(uint32_t stack);

  TrackSink& sink_;
  TrackThreads threads_;
  HeapWeights weights_;
  uint32_t rate_ = 0;
  uint64_t page_bytes_ = 0;
  bool by_pages_ = false;
  absl::flat_hash_map<uint32_t, uint32_t> names_;  // by stack
};

// The innermost frame of own code; without one it is library code.
uint32_t GrowthTracks::NameOf(uint32_t stack) {
  uint32_t& number = names_[stack];
  if (number != 0) return number;
  const uint32_t own = index().OwnStack(stack);
  const SourceLocation where = index().ResolveStack(own != 0 ? own : stack);
  SliceName name;
  name.kind = own != 0 ? SliceName::kOwn : SliceName::kLibrary;
  name.name = where.qualname.empty() ? where.function : where.qualname;
  name.file = where.file;
  name.line = where.first_line;
  return number = sink_.AddName(name);
}

}  // namespace

std::unique_ptr<TrackSource> NewGrowthSource(const SourceOptions& options) {
  return std::make_unique<ReadOnce<GrowthTracks>>(options);
}

}  // namespace pymemrun
