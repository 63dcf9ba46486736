// A small run of every kind of row, as the readers' tests want it.
#ifndef PYMEMRUN_READERS_TESTING_SMALL_RUN_FOR_TESTS_H_
#define PYMEMRUN_READERS_TESTING_SMALL_RUN_FOR_TESTS_H_

#include <stdint.h>

#include <string>

#include "readers/testing/run_builder.h"

namespace pymemrun {

// A run of two threads: rows 0, 9 (as context) and 10, a mark, 19 and 20.
struct SmallRun {
  bool with_footer = true;
  bool logged_whole = false;
  uint32_t pid = 4711;
  uint64_t start_ns = 1700000000000000000;
  uint64_t first_us = 100;

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_pid(pid);
    header.set_start_realtime_ns(start_ns);
    if (logged_whole) header.mutable_filters()->set_min_drss_bytes(0);
    builder.AddHeader(header);
    builder.AddThread("MainThread", pid);
    builder.AddThread("worker", pid + 1);
    const uint32_t code = builder.AddCode("/job.py", "work", 3);
    const uint32_t append = builder.AddFunction("list.append", "builtins");
    const uint32_t call = builder.AddSite(CALL, code, 3);
    const uint32_t c_return = builder.AddSite(C_RETURN, code, 5, append);
    const uint64_t mib = 1 << 20;
    builder.AddRow(MakeRow(0, first_us, call, 9 * mib, 9 * mib));
    builder.Flush();
    builder.AddRow(MakeRow(9, first_us + 90, call, 9 * mib, 0, !logged_whole));
    builder.AddRow(MakeRow(10, first_us + 100, c_return, 13 * mib, 4 * mib));
    builder.Flush();
    builder.AddMark(first_us + 150, 11, 1, "half", 13 * mib);
    builder.AddRow(
        MakeRow(19, first_us + 190, call, 13 * mib, 0, !logged_whole));
    Row last = MakeRow(20, first_us + 200, c_return, 12 * mib, -1 * (1 << 20));
    last.thread = 2;
    builder.AddRow(last);
    builder.Flush();
    if (with_footer) AddFooter(&builder, c_return);
    return sink.contents();
  }

 private:
  void AddFooter(RunBuilder* builder, uint32_t site) const {
    Record record;
    Footer* footer = record.mutable_footer();
    footer->set_end(Footer::EXIT);
    footer->set_exit_status(3);
    footer->set_end_us(first_us + 1000);
    footer->set_events(21);
    footer->set_rows(5);
    footer->set_context_rows(logged_whole ? 0 : 2);
    footer->set_hwm_bytes(14 << 20);
    footer->set_own_bytes(1 << 20);
    footer->set_frame_object_bytes(16 << 10);
    footer->set_line_array_bytes(2 << 10);
    footer->set_max_rss_bytes(13 << 20);
    footer->set_max_rss_number(10);
    footer->set_max_rss_site(site);
    footer->set_max_rss_thread(1);
    builder->AddRecord(record);
    builder->Flush();
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_SMALL_RUN_FOR_TESTS_H_
