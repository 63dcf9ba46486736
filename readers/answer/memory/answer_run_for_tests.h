// A run whose memory is known, for tests of the answer.
#ifndef PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_RUN_FOR_TESTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "readers/answer/memory/answer.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {

inline constexpr uint64_t kPage = 4096, kMiB = 1 << 20, kStart = 0x10000000;

// A program of one file, /src/job.py, begun in /src. Line 3 calls numpy, which
// mallocs 40 MiB at 1 s and fills them. Line 4 makes a list of 8 MiB at 2 s.
// Line 5 reads a file of 2 MiB at 3 s. 4 MiB were there before. At 4 s, the
// peak, 6 MiB are anonymous and hold no block. At 5 s line 3's block goes.
class AnswerRun {
 public:
  bool pages = true, heap = true, native = true;
  uint64_t file_mib = 0;  // that the kernel counts at 3.5 s; 0: it does not
  std::string script = "/src/job.py", called = "ones";
  bool footer = true, gil_and_tasks = false;
  Footer::End end = Footer::EXIT;
  uint64_t hwm_mib = 60, rss_mib = 60;  // the latter at the peak
  uint32_t children = 0;                // that were not traced
  std::vector<HeapEvent> later;  // in the batch of line 4's block, behind it
  uint64_t before_blocks = 0;    // of line 4, one a page from before tracing
  uint64_t start_mib = 0;  // of pages that came at time 0, from 8 * kStart on

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_cwd("/src");
    header.set_script("job.py");
    header.set_page_period(pages ? 1 : 0);
    header.set_heap(heap ? HEAP_ALL : HEAP_OFF);
    header.set_heap_native(native);
    header.set_calls_off(true);
    header.set_own_bytes(kMiB);
    header.set_first_rss_bytes(4 * kMiB);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    if (gil_and_tasks) {
      Record gil, tasks;
      gil.mutable_gil_recording()->set_min_wait_ns(1000000);
      tasks.mutable_task_recording()->set_min_blocked_ns(1000000);
      builder.AddRecord(gil);
      builder.AddRecord(tasks);
    }
    const uint32_t module = builder.AddCode(script, "<module>", 1);
    const uint32_t library = builder.AddCode(
        "/usr/lib/python3/dist-packages/numpy/core/numeric.py", called, 136);
    const uint32_t three = builder.AddStack(0, module, 3);
    const uint32_t ones = builder.AddStack(three, library, 191);
    const uint32_t four = builder.AddStack(0, module, 4);
    const uint32_t five = builder.AddStack(0, module, 5);
    const uint32_t heap_mapping = builder.AddMapping("[heap]");
    const uint32_t file_mapping = builder.AddMapping("/data/table.bin");
    if (before_blocks > 0) {
      builder.AddHeap(AllocEvents(20, 100 * kPage, before_blocks, kPage, four));
    }
    AddPages(&builder, 0, 8 * kStart, start_mib * kMiB, four, heap_mapping);
    if (pages) {
      builder.AddResidency(
          0, 10, 4 * kMiB,
          {{100, 4 * kMiB / kPage, file_mapping, true, false}});
      AddPages(&builder, 1000000, kStart, 40 * kMiB, ones, heap_mapping);
    }
    if (heap && native) {
      HeapEvent block = AllocEvent(1000001, kStart, 40 * kMiB, ones);
      block.allocator = HEAP_MALLOC;
      builder.AddHeap({block});
    }
    if (pages) {
      AddPages(&builder, 2000000, 2 * kStart, 14 * kMiB, four, heap_mapping);
    }
    if (heap) {
      auto events = later;
      events.insert(events.begin(),
                    AllocEvent(2000001, 2 * kStart, 8 * kMiB, four));
      builder.AddHeap(events);
    }
    if (pages) {
      AddPages(&builder, 3000000, 4 * kStart, 2 * kMiB, five, file_mapping);
    }
    if (file_mib > 0) AddCounts(&builder);
    builder.AddProcess(4000000, rss_mib * kMiB, rss_mib * kMiB);
    if (heap && native) builder.AddHeap({FreeEvent(5000000, kStart)});
    if (pages) {
      builder.AddPages({RangeEntry(5000001, PAGES_UNMAPPED, kStart / kPage,
                                   40 * kMiB / kPage)});
    }
    builder.AddProcess(6000000, 20 * kMiB, rss_mib * kMiB);
    if (footer) AddFooter(&builder);
    builder.Flush();
    return sink.contents();
  }

 private:
  void AddFooter(RunBuilder* builder) const {
    Record record;
    Footer* const last = record.mutable_footer();
    last->set_end(end);
    last->set_end_us(7000000);
    last->set_hwm_bytes(hwm_mib * kMiB);
    last->set_untraced_children(children);
    builder->AddRecord(record);
  }
  // What the kernel counted as pages of files, at two moments.
  void AddCounts(RunBuilder* builder) const {
    for (const auto& [time_us, mib] :
         {std::pair<uint64_t, uint64_t>{500, 2}, {3500000, file_mib}}) {
      Record record;
      ProcessSample* const sample = record.mutable_process();
      sample->set_time_us(time_us);
      sample->set_rss_bytes(time_us < 1000 ? 5 * kMiB : 59 * kMiB);
      sample->set_hwm_bytes(sample->rss_bytes());
      sample->set_file_bytes(mib * kMiB);
      builder->AddRecord(record);
    }
  }
  static void AddPages(RunBuilder* builder, uint64_t time_us, uint64_t begin,
                       uint64_t bytes, uint32_t stack, uint32_t mapping) {
    std::vector<PageEntry> entries =
        CamePages(time_us, begin / kPage, bytes / kPage, stack);
    for (PageEntry& entry : entries) {
      entry.time_us = time_us;
      entry.mapping = mapping;
    }
    builder->AddPages(entries);
  }
};

inline std::unique_ptr<Answer> Read(const AnswerRun& run) {
  const TempFile contents(run.Build());
  static const Console console = {"pymemreport", nullptr, 1, 2};
  const auto file = RereadFile::Open(contents.path(), console);
  return ReadAnswer(file.get());
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_ANSWER_MEMORY_ANSWER_RUN_FOR_TESTS_H_
