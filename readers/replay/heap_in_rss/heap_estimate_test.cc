#include "readers/replay/heap_in_rss/heap_estimate.h"

#include <cmath>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/mapping_events_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

// 4 pages of Python's are there before tracing. At the next answer there are 8
// pages of a library and 300 of anonymous memory. Line 5 has a block of 10
// pages there; 6 are resident. One in eight of its blocks was recorded. Line 6
// has an mmap object of 1 MiB; 100 pages of it are resident. Line 7 has a block
// of 24 bytes, which stands for 1000, in pages from before tracing.
std::string ScannedRun(bool native = true) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_own_bytes(0);
  header.set_page_scan(true);
  header.set_first_rss_bytes(0);
  header.set_heap(HEAP_SAMPLED);
  header.set_heap_native(native);
  builder.AddHeader(header);
  Record record;
  for (const auto& [below, probability] :
       {std::pair{100u, 0.001}, std::pair{100000u, 0.125},
        std::pair{2000000u, 1.0}}) {
    HeapClass* const one = record.mutable_heap_rates()->add_classes();
    one->set_below_bytes(below);
    one->set_probability(probability);
  }
  builder.AddRecord(record);
  builder.AddThread("MainThread", 4711);
  const uint32_t code = builder.AddCode("/job.py", "load", 3);
  const uint32_t five = builder.AddStack(0, code, 5);
  const uint32_t six = builder.AddStack(0, code, 6);
  const uint32_t seven = builder.AddStack(0, code, 7);
  const uint32_t python = builder.AddMapping("/usr/bin/python3.11");
  const uint32_t library = builder.AddMapping("/usr/lib/libx.so");
  const uint32_t none = builder.AddMapping("");
  HeapEvent object = MapEvent(1100, 2000 * kPage, kMiB, six);
  object.code = builder.AddMapping("/usr/lib/mmap.cpython-311.so");
  builder.AddResidency(
      0, 10, 20 * kPage,
      {{100, 4, python, true, false}, {500, 16, none, false, false}});
  builder.AddHeap({AllocEvent(1000, 1000 * kPage, 10 * kPage - 8, five), object,
                   AllocEvent(1200, 501 * kPage, 24, seven)});
  builder.AddResidency(4990, 5000, 328 * kPage,
                       {{100, 4, python, true, false},
                        {200, 8, library, true, false},
                        {500, 16, none, false, false},
                        {1000, 6, none, false, false},
                        {2000, 100, none, false, false},
                        {4000, 194, none, false, false}});
  record.Clear();
  record.mutable_footer()->set_end_us(10000);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

std::map<std::string, nlohmann::json> RowsOf(const std::string& contents) {
  TempFile file(contents);
  std::map<std::string, nlohmann::json> rows;
  for (const auto& row : nlohmann::json::parse(
           Report({"resident", file.path(), "--json", "--at", "0.005"}).out)) {
    const auto& line = row["line"];
    rows[line.is_number() ? std::to_string(line.get<int>())
                          : row["file"].get<std::string>()] = row;
  }
  return rows;
}

TEST(ScannedPagesTest, AreWhoseBlocksAreInThem) {
  auto rows = RowsOf(ScannedRun());
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_EQ(rows["5"]["resident_bytes"], 8 * 6 * kPage);
  EXPECT_EQ(rows["5"]["error_bytes"],
            std::round(std::sqrt(8.0 * 7.0) * 6 * kPage));
  EXPECT_EQ(rows["6"]["resident_bytes"], 100 * kPage);
  EXPECT_EQ(rows["6"]["error_bytes"], 0);
  // CPython's pools round up, and these pages were there before.
  EXPECT_EQ(rows["7"]["resident_bytes"], 1000 * 32);
  EXPECT_EQ(rows["/usr/lib/libx.so"]["resident_bytes"], 8 * kPage);
  EXPECT_EQ(rows["<before tracing>"]["resident_bytes"], 20 * kPage - 32000);
  EXPECT_EQ(rows["<allocator slack>"]["resident_bytes"],
            (300 - 8 * 6 - 100) * kPage);
  EXPECT_EQ(rows["unattributed"]["resident_bytes"], 0);
}

TEST(ScannedPagesTest, AllRowsAddUpToRss) {
  TempFile file(ScannedRun());
  for (const char* by :
       {"line", "function", "file", "thread", "module", "mapping"}) {
    for (const char* at : {"0.001", "peak", "exit"}) {
      for (const char* limit : {"0", "1"}) {
        int64_t sum = 0;
        for (const auto& row : nlohmann::json::parse(
                 Report({"resident", file.path(), "--json", "--by", by, "--at",
                         at, "--limit", limit})
                     .out)) {
          sum += row["resident_bytes"].get<int64_t>();
        }
        EXPECT_EQ(sum, (at[0] == '0' ? 20 : 328) * kPage) << by << at;
      }
    }
  }
}

TEST(ScannedPagesTest, SamplesNeverComeToMoreThanIsThere) {
  ResidentReplay pages;
  HeapModel heap;
  HeapRates rates;
  rates.add_classes()->set_below_bytes(1000);
  rates.mutable_classes(0)->set_probability(0.01);
  heap.SetRates(rates);
  const HeapEvent event = AllocEvent(1, 0x1000, 160, 1);
  heap.Add(&event, 1);
  Header header;
  header.set_page_scan(true);
  pages.OnHeader(header);
  const auto parts = EstimateResidentHeap(pages, heap, 10000, 0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_DOUBLE_EQ(parts[1].bytes, 10000);
}

// Two blocks of 10 pages; of the first one 4 pages were seen.
TEST(ScannedPagesTest, WhatCameAfterTheScanFillsBlocks) {
  ResidentReplay pages;
  Header header;
  header.set_page_scan(true);
  pages.OnHeader(header);
  const std::vector<ResidentRange> none, seen = {{100, 4, 0, false, false}};
  pages.OnResidency({1, 2, kPage, none});
  pages.OnResidency({10, 11, 5 * kPage, seen});
  pages.Finish();
  HeapModel heap;
  const std::vector<HeapEvent> events = {
      AllocEvent(1, 100 * kPage, 10 * kPage, 1),
      AllocEvent(1, 200 * kPage, 10 * kPage, 2)};
  heap.Add(events.data(), events.size());
  const auto parts =
      EstimateResidentHeap(pages, heap, 12 * kPage, 0, 8 * kPage);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_DOUBLE_EQ(parts[1].bytes, (4 + 6) * kPage);
  EXPECT_DOUBLE_EQ(parts[2].bytes, 2 * kPage);
  // The first may have 0 to 6 pages more, the second 2 to 8.
  EXPECT_DOUBLE_EQ(parts[1].variance, 6 * kPage * 6 * kPage / 12);
  EXPECT_DOUBLE_EQ(parts[2].variance, 6 * kPage * 6 * kPage / 12);
}

TEST(ScannedPagesTest, AreToldByOneLineAboveTheTable) {
  TempFile file(ScannedRun()), python(ScannedRun(/*native=*/false));
  const std::string text = Report({"resident", file.path()}).out;
  EXPECT_THAT(
      text,
      HasSubstr(
          "; pages by scan: charged by allocation, not by first touch\n"));
  EXPECT_THAT(Report({"resident", python.path()}).out,
              HasSubstr("C code's blocks were not recorded"));
  EXPECT_THAT(Report({"summary", file.path()}).out,
              HasSubstr("by scan: charged by allocation, not by first touch"));
  EXPECT_THAT(Report({"timeline", file.path()}).out,
              HasSubstr("(pages by scan)"));
}

TEST(ScannedPagesTest, NobodyIsSaidToHaveTouchedThem) {
  TempFile file(ScannedRun());
  const Printed printed = Report({"resident", file.path(), "--owner", "touch"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("who touched them is unknown"));
  EXPECT_EQ(printed.out, "");
}

}  // namespace
}  // namespace pymemrun
