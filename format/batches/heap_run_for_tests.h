// A small run with heap events. For tests only.
#ifndef PYMEMRUN_FORMAT_BATCHES_HEAP_RUN_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_BATCHES_HEAP_RUN_FOR_TESTS_H_

#include <string>
#include <tuple>
#include <vector>

#include "format/batches/heap_batch.h"
#include "format/stream/stream_for_tests.h"

namespace pymemrun {

inline bool operator==(const HeapEvent& a, const HeapEvent& b) {
  const auto all = [](const HeapEvent& e) {
    return std::tie(e.time_us, e.address, e.size, e.stack, e.thread, e.code,
                    e.allocator, e.is_free, e.free_of);
  };
  return all(a) == all(b);
}

// On thread 1.
inline HeapEvent AllocEvent(uint64_t time_us, uint64_t address, uint64_t size,
                            uint32_t stack,
                            HeapAllocator allocator = HEAP_OBJ) {
  HeapEvent event;
  event.time_us = time_us;
  event.address = address;
  event.size = size;
  event.stack = stack;
  event.thread = 1;
  event.allocator = allocator;
  return event;
}

inline HeapEvent FreeEvent(uint64_t time_us, uint64_t address) {
  HeapEvent event;
  event.time_us = time_us;
  event.address = address;
  event.thread = 1;
  event.is_free = true;
  return event;
}

inline HeapEvent RangeEvent(uint64_t time_us, uint64_t address, uint64_t bytes,
                            HeapFreeOf free_of = HeapFreeOf::kRange) {
  HeapEvent event = FreeEvent(time_us, address);
  event.size = bytes;
  event.free_of = free_of;
  return event;
}

inline HeapBatch EncodedHeap(const std::vector<HeapEvent>& events) {
  HeapBatchEncoder encoder;
  for (const HeapEvent& event : events) encoder.Add(event);
  HeapBatch batch;
  encoder.Take(&batch);
  return batch;
}

inline Record HeapRecord(const std::vector<HeapEvent>& events) {
  Record record;
  *record.mutable_heap() = EncodedHeap(events);
  return record;
}

inline Record HeapRatesRecord(uint64_t time_us, uint64_t mean_bytes) {
  Record record;
  record.mutable_heap_rates()->set_time_us(time_us);
  record.mutable_heap_rates()->set_mean_bytes(mean_bytes);
  return record;
}

inline std::vector<HeapEvent> HeapRunEvents() {
  return {AllocEvent(2000, 0x7f0000004030, 100, 1),
          AllocEvent(2000, 0x1c0ffee0, 5000, 1, HEAP_MEM),
          FreeEvent(2500, 0x7f0000004030),
          AllocEvent(2600, 0x7f0000004030, 99, 0),
          AllocEvent(2700, 0x1c10a000, uint64_t{5} << 30, 1, HEAP_RAW),
          FreeEvent(2800, 0x1c0ffee0)};
}

// Frames: definitions with the rates, heap events, a loss, the footer.
inline std::vector<std::string> HeapRunFrames(
    int level = StreamWriter::kStored) {
  std::vector<Record> first = Definitions();
  first.push_back(HeapRatesRecord(1000, 65536));
  Record loss, footer;
  loss.mutable_heap_loss()->set_time_us(3001);
  loss.mutable_heap_loss()->set_events(5);
  footer.mutable_footer()->set_heap_allocations(4);
  footer.mutable_footer()->set_heap_frees(2);
  footer.mutable_footer()->set_heap_events_lost(5);
  footer.mutable_footer()->set_end_us(5000);
  return {FrameOf(first, level), FrameOf({HeapRecord(HeapRunEvents())}, level),
          FrameOf({loss}, level), FrameOf({footer}, level)};
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_HEAP_RUN_FOR_TESTS_H_
