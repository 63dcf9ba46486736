// A run file with page events and heap events, for hostile_run_builder.cc.
#ifndef PYMEMRUN_READERS_TESTING_HOSTILE_RUN_H_
#define PYMEMRUN_READERS_TESTING_HOSTILE_RUN_H_

#include <cstdint>
#include <vector>

#include "format/records/format_version.h"
#include "format/stream/byte_io.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {

// Its first two stacks are lines 1 and 2. What was added is written by the time
// that it is destroyed. Not thread safe.
class HostileRun {
 public:
  // `logs_all`: as if each event of calls had been logged. `forked`: so that
  // what it has of a parent is looked at, too.
  explicit HostileRun(ByteSink* sink, bool logs_all = false, bool forked = true)
      : builder_(sink) {
    Header header = RunBuilder::DefaultHeader();
    if (logs_all) header.clear_filters();
    header.set_page_period(1);
    header.set_forked(forked);
    header.set_heap(HEAP_ALL);
    header.set_heap_native(true);
    header.set_format_version(kFormatVersion);
    builder_.AddHeader(header);
    builder_.AddThread("MainThread", 1);
    code_ = builder_.AddCode("/job.py", "f", 1);
    for (uint32_t line = 1; line <= 2; ++line) AddStack(0, line);
    builder_.AddMapping("/lib/libc.so.6");
    builder_.AddResidency(0, 1, 0, {{1, 1, 1, false, false}});
  }
  ~HostileRun() {
    FlushPages();
    FlushHeap();
    builder_.Flush();
  }

  RunBuilder& builder() { return builder_; }
  uint32_t code() const { return code_; }
  uint32_t AddStack(uint32_t parent, uint32_t line) {
    return builder_.AddStack(parent, code_, line);
  }
  // The innermost of a chain of this many nodes.
  uint32_t AddChain(uint32_t nodes) {
    uint32_t stack = 0;
    for (uint32_t i = 0; i < nodes; ++i) stack = AddStack(stack, i % 50 + 1);
    return stack;
  }
  void Page(PageAction action, uint64_t page, uint64_t pages,
            uint64_t moved_to = 0, uint32_t stack = 1) {
    pages_.push_back(
        {++now_us_, page, pages, moved_to, 1, stack, 0, 1, action, false});
    if (pages_.size() >= kEntriesOfBatch) FlushPages();
  }
  // As if it had been long ago, in a batch of its own.
  void PageAt(uint64_t time_us, PageAction action, uint64_t page,
              uint64_t pages) {
    FlushPages();
    builder_.AddPages({{time_us, page, pages, 0, 1, 1, 0, 1, action, false}});
  }
  // Pages `step` apart, of lines 1 and 2 in turn: none is like those beside it.
  void ScatteredPages(uint64_t count, uint64_t step) {
    for (uint64_t i = 0; i < count; ++i) {
      Page(PAGE_CAME, 1000 + i * step, 1, 0, 1 + i % 2);
    }
  }
  void Residencies(uint64_t count, const std::vector<ResidentRange>& ranges,
                   uint64_t rss_bytes = 0) {
    FlushPages();
    for (uint64_t i = 0; i < count; ++i) {
      now_us_ += 2;
      builder_.AddResidency(now_us_ - 1, now_us_, rss_bytes, ranges);
    }
  }
  void Alloc(uint64_t address, uint64_t size, uint32_t stack,
             uint32_t thread = 1) {
    HeapEvent event;
    event.time_us = ++now_us_;
    event.address = address;
    event.size = size;
    event.stack = stack;
    event.thread = thread;
    heap_.push_back(event);
    if (heap_.size() >= kEntriesOfBatch) FlushHeap();
  }
  void Heap(HeapEvent event) {
    event.time_us = ++now_us_;
    event.thread = 1;
    heap_.push_back(event);
    if (heap_.size() >= kEntriesOfBatch) FlushHeap();
  }
  // What C code maps, unmaps, moves.
  void Map(uint64_t address, uint64_t size, HeapAllocator allocator) {
    HeapEvent event;
    event.address = address;
    event.size = size;
    event.stack = 1;
    event.allocator = allocator;
    Heap(event);
  }
  void Unmap(uint64_t address, uint64_t size, HeapFreeOf free_of) {
    HeapEvent event;
    event.address = address;
    event.size = size;
    event.is_free = true;
    event.free_of = free_of;
    Heap(event);
  }
  void Pass(uint64_t us) { now_us_ += us; }
  uint64_t now_us() const { return now_us_; }
  void FlushHeap() {
    if (!heap_.empty()) builder_.AddHeap(heap_);
    heap_.clear();
  }
  void FlushPages() {
    if (!pages_.empty()) builder_.AddPages(pages_);
    pages_.clear();
  }

 private:
  static constexpr uint64_t kEntriesOfBatch = 1 << 16;

  RunBuilder builder_;
  uint32_t code_;
  uint64_t now_us_ = 10;
  std::vector<PageEntry> pages_;
  std::vector<HeapEvent> heap_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HOSTILE_RUN_H_
