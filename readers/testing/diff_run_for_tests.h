// Runs that are compared. For tests only.
#ifndef PYMEMRUN_READERS_TESTING_DIFF_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_DIFF_RUN_FOR_TESTS_H_

#include <string>
#include <vector>

#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {

// Lines of functions, each with what it holds: at the peak, and when the
// program's code has ended. RSS is twice the live bytes. The run lasts 10 ms
// and takes 5 ms of CPU.
struct DiffRun {
  struct Line {
    uint32_t line;
    uint32_t hash;  // 0: not in the file
    uint64_t bytes;
    uint64_t end_bytes = 0;
    std::string function = "work";
    uint32_t first_line = 10;
  };
  std::vector<Line> lines;
  std::string file = "/src/old/job.py";
  uint64_t mean_bytes = 0;  // between samples; 0: all are recorded
  bool with_heap = true;
  Footer::End end = Footer::EXIT;
  uint64_t heap_events_lost = 0;

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    if (with_heap) header.set_heap(mean_bytes > 0 ? HEAP_SAMPLED : HEAP_ALL);
    header.set_script("job.py");
    header.set_calls_off(!with_heap);
    header.set_first_rss_bytes(1 << 20);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    Record rates;
    rates.mutable_heap_rates()->set_mean_bytes(mean_bytes);
    if (mean_bytes > 0) builder.AddRecord(rates);
    uint64_t peak_bytes = 0;
    Record source;
    source.mutable_source()->set_file(file);
    uint64_t address = 0x100000;
    std::vector<HeapEvent> allocations, frees;
    for (const Line& line : lines) {
      const uint32_t code =
          builder.AddCode(file, line.function, line.first_line);
      const uint32_t stack = builder.AddStack(0, code, line.line);
      if (line.hash != 0) {
        source.mutable_source()->add_line(line.line);
        source.mutable_source()->add_hash(line.hash);
      }
      for (const uint64_t bytes :
           {line.end_bytes, line.bytes - line.end_bytes}) {
        address += 1 << 24;
        if (bytes == 0) continue;
        allocations.push_back(AllocEvent(1000, address, bytes, stack));
        if (bytes != line.end_bytes) frees.push_back(FreeEvent(2000, address));
      }
      peak_bytes += line.bytes;
    }
    if (with_heap) {
      builder.AddHeap(allocations);
      builder.AddHeap(frees);
    }
    builder.AddProcess(9000, 2 << 20, 2 * peak_bytes);
    if (source.source().line_size() > 0) builder.AddRecord(source);
    Record record;
    Footer* footer = record.mutable_footer();
    footer->set_end(end);
    footer->set_heap_events_lost(heap_events_lost);
    footer->set_end_us(10000);
    footer->set_user_us(5000);
    footer->set_hwm_bytes(2 * peak_bytes);
    footer->set_last_rss_bytes(2 << 20);
    footer->set_finalize(Footer::NOT_FINALIZED);
    footer->set_own_bytes(4096);  // as it told when it ended
    builder.AddRecord(record);
    builder.Flush();
    return sink.contents();
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_DIFF_RUN_FOR_TESTS_H_
