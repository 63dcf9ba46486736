// Heap events, and a small run with some. For tests only.
#ifndef PYMEMRUN_READERS_TESTING_HEAP_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_HEAP_RUN_FOR_TESTS_H_

#include <string>
#include <vector>

#include "readers/testing/run_builder.h"

namespace pymemrun {

inline HeapEvent AllocEvent(uint64_t time_us, uint64_t address, uint64_t size,
                            uint32_t stack, uint32_t thread = 1) {
  HeapEvent event;
  event.time_us = time_us;
  event.address = address;
  event.size = size;
  event.stack = stack;
  event.thread = thread;
  return event;
}

inline HeapEvent FreeEvent(uint64_t time_us, uint64_t address,
                           uint32_t thread = 1) {
  HeapEvent event;
  event.time_us = time_us;
  event.address = address;
  event.thread = thread;
  event.is_free = true;
  return event;
}

// `count` blocks one behind the other, 1 us apart.
inline std::vector<HeapEvent> AllocEvents(uint64_t time_us, uint64_t address,
                                          uint64_t count, uint64_t size,
                                          uint32_t stack, uint32_t thread = 1) {
  std::vector<HeapEvent> events;
  for (uint64_t i = 0; i < count; ++i) {
    events.push_back(
        AllocEvent(time_us + i, address + i * 4096, size, stack, thread));
  }
  return events;
}

// Header and main thread of a run of --heap all.
inline void BeginHeapRun(RunBuilder* builder) {
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  builder->AddHeader(header);
  builder->AddThread("MainThread", 4711);
}

// Two lines of one function, on two threads. Line 5 (load, called at line 9)
// allocates 10 blocks of 100 bytes in thread 1 at 1 ms, line 6 five of 1000
// from `mem` in thread 2 at 2 ms; then tracing itself 400 bytes, the
// interpreter 50, an import 70: 6120 live bytes of the program, the peak,
// at 3.002 ms. At 5 ms four of line 6 are freed, at 6 ms line 5 allocates three
// blocks of 16 bytes and frees each at once, at 7 ms an unknown block is freed.
struct HeapRun {
  HeapMode mode = HEAP_ALL;
  uint64_t mean_bytes = 0;  // between samples
  bool with_footer = true;
  std::string file = "/job.py";
  std::string load = "load";
  uint64_t line_six_blocks = 5;

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(mode);
    header.set_script("/src/job.py");
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    builder.AddThread("worker", 4712);
    AddRates(&builder);
    AddStacks(&builder);
    builder.AddHeap(AllocEvents(1000, 0x100000, 10, 100, kFive));
    builder.AddHeap(LineSix());
    builder.AddHeap({AllocEvent(3000, 0x300000, 400, kTracing),
                     AllocEvent(3001, 0x310000, 50, kInterpreter),
                     AllocEvent(3002, 0x320000, 70, kImport)});
    std::vector<HeapEvent> rest;
    for (uint64_t i = 0; i < 4; ++i) {
      rest.push_back(FreeEvent(5000, 0x200000 + i * 4096, 1));
    }
    for (uint64_t i = 0; i < 3; ++i) {
      rest.push_back(AllocEvent(6000, 0x400000, 16, kFive));
      rest.push_back(FreeEvent(6000, 0x400000));
    }
    rest.push_back(FreeEvent(7000, 0x999000));
    builder.AddHeap(rest);
    if (with_footer) AddFooter(&builder);
    builder.Flush();
    return sink.contents();
  }

  static constexpr uint32_t kFive = 2, kSix = 3, kTracing = 4, kInterpreter = 5,
                            kImport = 6;

 private:
  void AddRates(RunBuilder* builder) const {
    if (mean_bytes == 0) return;
    Record record;
    record.mutable_heap_rates()->set_mean_bytes(mean_bytes);
    builder->AddRecord(record);
  }
  void AddStacks(RunBuilder* builder) const {
    const uint32_t module = builder->AddCode(file, "<module>", 1);
    const uint32_t code = builder->AddCode(file, load, 3);
    const uint32_t outer = builder->AddStack(0, module, 9);
    builder->AddStack(outer, code, 5);
    builder->AddStack(outer, code, 6);
    const uint32_t tracing = builder->AddCode("", "<tracing itself>", 0);
    builder->AddStack(0, tracing, 0);
    const uint32_t interpreter = builder->AddCode("", "<interpreter>", 0);
    builder->AddStack(0, interpreter, 0);
    const uint32_t import =
        builder->AddCode("<frozen importlib._bootstrap>", "_find", 100);
    builder->AddStack(0, import, 101);
  }
  std::vector<HeapEvent> LineSix() const {
    std::vector<HeapEvent> events =
        AllocEvents(2000, 0x200000, line_six_blocks, 1000, kSix, 2);
    for (HeapEvent& event : events) event.allocator = HEAP_MEM;
    return events;
  }
  void AddFooter(RunBuilder* builder) const {
    Record record;
    Footer* footer = record.mutable_footer();
    footer->set_end(Footer::EXIT);
    footer->set_end_us(10000);
    footer->set_heap_allocations(21);
    footer->set_heap_frees(8);
    builder->AddRecord(record);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_HEAP_RUN_FOR_TESTS_H_
