// A small run with page events. For tests only.
#ifndef PYMEMRUN_READERS_TESTING_PAGE_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_PAGE_RUN_FOR_TESTS_H_

#include <string>
#include <vector>

#include "readers/testing/run_builder.h"

namespace pymemrun {

// `count` pages that came, 10 us apart.
inline std::vector<PageEntry> CamePages(uint64_t time_us, uint64_t page,
                                        uint64_t count, uint32_t stack,
                                        uint32_t thread = 1) {
  std::vector<PageEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    entries.push_back({time_us + 10 * i, page + i, 1, 0, thread, stack, 1, 1,
                       PAGE_CAME, false});
  }
  return entries;
}

inline PageEntry RangeEntry(uint64_t time_us, PageAction action, uint64_t page,
                            uint64_t pages, uint64_t moved_to = 0) {
  return {time_us, page, pages, moved_to, 1, 1, 0, 1, action, false};
}

// A run with page events of one thread, 1, which has one stack, 1.
inline void BeginPageRun(RunBuilder* builder, uint64_t first_rss_bytes = 0) {
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(1);
  header.set_first_rss_bytes(first_rss_bytes);
  builder->AddHeader(header);
  builder->AddThread("MainThread", 1);
  builder->AddStack(0, builder->AddCode("/job.py", "f", 1), 2);
}

// Four lines of two functions on two threads. 20 pages are there before. Then
// line 5 (load, called at line 9) brings 50. Line 6 brings 30 in thread 2, 5 of
// them inferred. RSS is highest after that, at 200 ms. Then 40 of the 50 are
// unmapped. At the end one page of 100 is unowned.
struct PageEventsRun {
  uint32_t period = 1;
  uint32_t weight = 1;
  bool with_footer = true;
  std::string file = "/job.py";
  std::string load = "load";
  uint64_t own_bytes = 0;

  static constexpr uint64_t kPage = 4096;

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_page_period(period);
    header.set_own_bytes(own_bytes);
    header.set_script("/src/job.py");
    header.set_first_rss_bytes(0);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    builder.AddThread("worker", 4712);
    const uint32_t module = builder.AddCode(file, "<module>", 1);
    const uint32_t code = builder.AddCode(file, load, 3);
    const uint32_t outer = builder.AddStack(0, module, 9);
    const uint32_t five = builder.AddStack(outer, code, 5);
    const uint32_t six = builder.AddStack(outer, code, 6);
    const uint32_t python = builder.AddMapping("/usr/bin/python3.11");
    const uint32_t heap = builder.AddMapping("[heap]");
    const uint32_t none = builder.AddMapping("");
    builder.AddResidency(0, 1000, 20 * kPage, {{100, 20, python, true, false}});
    std::vector<PageEntry> first = CamePages(50000, 1000, 50, five);
    first[0].weight = weight;
    builder.AddPages(first);
    std::vector<PageEntry> second = CamePages(150000, 2000, 30, six, 2);
    for (size_t i = 0; i < 5; ++i) second[i].inferred = true;
    builder.AddPages(second);
    builder.AddProcess(200000, 100 * kPage, 100 * kPage);
    builder.AddPages({RangeEntry(400000, PAGES_UNMAPPED, 1000, 40)});
    builder.AddResidency(499000, 500000, 61 * kPage,
                         {{100, 20, python, true, false},
                          {1040, 10, heap, false, false},
                          {2000, 31, none, false, false}});
    if (with_footer) AddFooter(&builder);
    builder.Flush();
    return sink.contents();
  }

 private:
  void AddFooter(RunBuilder* builder) const {
    Record record;
    Footer* footer = record.mutable_footer();
    footer->set_end(Footer::EXIT);
    footer->set_end_us(600000);
    footer->set_page_events(80);
    footer->set_pages_inferred(5);
    footer->set_hwm_bytes(100 * kPage);
    builder->AddRecord(record);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_PAGE_RUN_FOR_TESTS_H_
