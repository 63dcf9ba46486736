// The column thread_drss_bytes of pymemcat.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Row RowOf(uint64_t number, uint64_t time_us, uint32_t thread) {
  Row row = MakeRow(number, time_us, 1, 100 * kPage, 0);
  row.thread = thread;
  return row;
}

// Two threads have rows, and the second is renamed. Page events stand behind
// all rows.
std::string RowsRun() {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder, 100 * kPage);
  builder.AddThread("pool", 8);
  builder.AddThread("worker", 8, 2);
  builder.AddThread("native", 9);
  builder.AddSite(RETURN, 1, 3);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddRow(RowOf(0, 1000, 1));
  builder.AddRow(RowOf(1, 2000, 2));
  builder.AddRow(RowOf(2, 3000, 1));
  builder.AddRow(RowOf(3, 4000, 3));
  builder.Flush();
  builder.AddPages(CamePages(910, 100, 10, 1));                  // up to 1000
  builder.AddPages(CamePages(1001, 200, 3, 1, 2));               // row 1
  builder.AddPages(CamePages(2500, 300, 5, 1));                  // row 2
  builder.AddPages(CamePages(2600, 400, 7, 1, 4));               // of no row
  builder.AddPages(CamePages(2700, 500, 2, 1, 2));               // row 3
  builder.AddPages({RangeEntry(2900, PAGES_UNMAPPED, 500, 1)});  // row 2
  builder.AddPages(CamePages(3500, 600, 4, 1, 3));               // row 3
  builder.AddPages(CamePages(4500, 700, 6, 1, 3));  // after the last
  builder.AddProcess(5000, 137 * kPage, 137 * kPage);
  Record footer;
  footer.mutable_footer()->set_end(Footer::EXIT);
  footer.mutable_footer()->set_end_us(5000);
  builder.AddRecord(footer);
  builder.Flush();
  return sink.contents();
}

std::vector<std::string> Cells(std::vector<std::string> options,
                               const std::string& run = RowsRun()) {
  TempFile file(run);
  options.insert(options.begin(), {file.path(), "--csv", "--no-header"});
  if (std::find(options.begin(), options.end(), "--columns") == options.end()) {
    options.insert(options.end(), {"--columns", "thread_drss_bytes"});
  }
  const Printed printed = Cat(options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return CsvLines(printed);
}

TEST(ThreadDrssTest, IsWhatTheRowsThreadDidSinceItsRowBefore) {
  EXPECT_THAT(Cells({}), ElementsAre("40960", "12288", "16384", "24576"));
}

// What other threads did during it is not in it, and the call may begin before
// what is printed.
TEST(ThreadDrssTest, ACallKnowsWhatItsThreadDidInIt) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder, 100 * kPage);
  builder.AddThread("worker", 8);
  builder.AddSite(RETURN, 1, 3);
  builder.AddMapping("/usr/bin/python3.11");
  Row row = RowOf(9, 4000, 2);
  row.call_events = 5;
  row.call_us = 2000;
  row.call_drss = 6 * kPage;
  builder.AddRow(row);
  builder.AddPages(CamePages(1990, 100, 2, 1, 2));  // the CALL's and before
  builder.AddPages(CamePages(2001, 200, 3, 1, 2));
  builder.AddPages(CamePages(3000, 300, 3, 1));
  builder.AddPages(CamePages(4000, 400, 2, 1, 2));  // one is after the RETURN
  builder.Flush();
  const std::string all = sink.contents();
  EXPECT_THAT(
      Cells({"--columns", "call_drss_bytes,call_thread_drss_bytes"}, all),
      ElementsAre("24576,16384"));
  EXPECT_THAT(Cells({"--columns", "call_thread_drss_bytes,thread_drss_bytes",
                     "--from", "0.003"},
                    all),
              ElementsAre("16384,4096"));
}

// Also with the fixed columns, as the last one.
TEST(ThreadDrssTest, StandsBehindTheOtherColumns) {
  TempFile file(RowsRun());
  const std::vector<std::string> lines = CsvLines(Cat({file.path(), "--csv"}));
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], ::testing::EndsWith(",rss_exact,thread_drss_bytes"));
  EXPECT_THAT(lines[4], ::testing::EndsWith(",true,24576"));
  EXPECT_THAT(Cat({file.path(), "--jsonl"}).out,
              HasSubstr("\"rss_exact\":true,\"thread_drss_bytes\":24576}\n"));
}

// Each thread's rows, what came after them, threads without rows, and what no
// thread did are what RSS changed by.
TEST(ThreadDrssTest, AddsUpToWhatRssChangedBy) {
  int64_t of_rows = 0;
  for (const std::string& cell : Cells({})) of_rows += std::stoll(cell);
  const int64_t after = 6 * kPage, native = 7 * kPage;
  TempFile file(RowsRun());
  const std::string table =
      Report({"top", file.path(), "--by", "thread", "--csv"}).out;
  EXPECT_EQ(of_rows, 23 * static_cast<int64_t>(kPage));
  EXPECT_EQ(of_rows + after + native + 1 * static_cast<int64_t>(kPage),
            37 * static_cast<int64_t>(kPage));
  EXPECT_THAT(table, HasSubstr("\r\nunattributed,4096,0,4096,"));
}

TEST(ThreadDrssTest, CountsFromTheRowThatWasPrintedBefore) {
  EXPECT_THAT(Cells({"--thread", "MainThread"}), ElementsAre("40960", "16384"));
  EXPECT_THAT(Cells({"--every", "3"}), ElementsAre("40960", "36864"));
  EXPECT_THAT(Cells({"--from", "0.0029"}), ElementsAre("-4096", "16384"));
}

TEST(ThreadDrssTest, WithoutPageFaultsItIsEmpty) {
  TempFile file(SmallRun().Build());
  EXPECT_THAT(CsvLines(Cat({file.path(), "--csv"}))[1],
              ::testing::EndsWith(",true,"));
  EXPECT_THAT(Cat({file.path(), "--jsonl"}).out,
              HasSubstr("\"thread_drss_bytes\":null}\n"));
}

// What is read once cannot tell.
TEST(ThreadDrssTest, WhatIsFollowedHasNone) {
  TempFile file(RowsRun());
  const Printed printed = Cat({file.path(), "--csv", "--follow", "--no-header",
                               "--columns", "event,thread_drss_bytes"});
  EXPECT_THAT(printed.out, HasSubstr("3,\r\n"));
}

TEST(ThreadDrssTest, SeveralFilesHaveTheirOwn) {
  TempFile file(RowsRun());
  EXPECT_THAT(CsvLines(Cat({file.path(), file.path(), "--csv", "--no-header",
                            "--columns", "thread_drss_bytes"})),
              ElementsAre("40960", "40960", "12288", "12288", "16384", "16384",
                          "24576", "24576"));
}

}  // namespace
}  // namespace pymemrun
