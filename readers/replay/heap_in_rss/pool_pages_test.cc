// Memory that libraries map for pools of their own.
#include "readers/replay/heap_in_rss/pool_pages.h"

#include <algorithm>
#include <string>
#include <vector>

#include "format/batches/encode_batch_for_tests.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/answer/memory/answer.h"
#include "readers/testing/mapping_events_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

// Line 5 maps a GiB, line 6 touches 40 MiB of it.
struct PoolRun {
  bool scan = false;
  std::string mapper = "/usr/lib/python3/site-packages/x/libpool-1a2b.so.3";
  bool malloc = false;   // a recorded block is there, of line 7
  bool imports = false;  // line 8 does, and allocates more than line 6
  // Rows tell growth: of 3 MiB in line 8 itself, of 2 in a call of line 6.
  bool calls = false;
  uint64_t peak_mib = 0;  // more that RSS was before the scan; 0: none

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    Header header = RunBuilder::DefaultHeader();
    header.set_heap(HEAP_ALL);
    header.set_heap_native(true);
    header.set_cwd("/src");
    header.set_script("job.py");
    header.set_first_rss_bytes(kMiB);
    scan ? header.set_page_scan(true) : header.set_page_period(1);
    header.set_calls_off(!calls);
    builder.AddHeader(header);
    builder.AddThread("MainThread", 4711);
    const uint32_t library = builder.AddMapping(mapper);
    const uint32_t none = builder.AddMapping("");
    const uint32_t code = builder.AddCode("/src/job.py", "load", 3);
    const uint32_t five = builder.AddStack(0, code, 5);
    const uint32_t six = builder.AddStack(0, code, 6);
    const uint32_t seven = builder.AddStack(0, code, 7);
    HeapEvent map = MapEvent(1000, kGiB, kGiB, five);
    map.code = library;
    builder.AddHeap({map});
    if (malloc) {
      HeapEvent block = AllocEvent(1001, kGiB, 10 * kMiB, seven);
      block.allocator = HEAP_MALLOC;
      builder.AddHeap({block});
    }
    // Line 6 allocates when they grow.
    builder.AddHeap(
        {AllocEvent(2000, 0x5000, 16, six), FreeEvent(2001, 0x5000)});
    if (calls) {
      const uint32_t eight = builder.AddStack(0, code, 8);
      Row own = MakeRow(1, 1800, builder.AddSite(C_CALL, code, 8), 4 * kMiB,
                        3 * kMiB);
      own.stack = eight;
      Row called = MakeRow(2, 2000, builder.AddSite(C_RETURN, code, 6),
                           6 * kMiB, 2 * kMiB);
      called.stack = six;
      builder.AddRecord(EncodeRows({own, called}, /*stacks=*/true));
    }
    if (imports) {
      const uint32_t machinery =
          builder.AddCode("<frozen importlib._bootstrap>", "_find_and_load", 1);
      const uint32_t eight = builder.AddStack(0, code, 8);
      const uint32_t import = builder.AddStack(eight, machinery, 2);
      builder.AddHeap(
          {AllocEvent(2100, 0x6000, kMiB, import), FreeEvent(2101, 0x6000)});
    }
    builder.AddResidency(1500, 1600, kMiB,
                         {{10, kMiB / kPage, none, false, false}});
    std::vector<ResidentRange> seen = {{10, kMiB / kPage, none, false, false}};
    seen.push_back({kGiB / kPage, 40 * kMiB / kPage, none, false, false});
    if (!scan) {
      std::vector<PageEntry> pages =
          CamePages(2000, kGiB / kPage, 40 * kMiB / kPage, six);
      for (PageEntry& page : pages) page.mapping = none;
      builder.AddPages(pages);
    }
    if (peak_mib > 0) {
      const uint64_t peak = (41 + peak_mib) * kMiB;
      builder.AddProcess(200000, peak, peak);
    }
    builder.AddResidency(300000, 300100, 41 * kMiB, seen);
    builder.AddProcess(320000, 41 * kMiB, 41 * kMiB);
    Record record;
    record.mutable_footer()->set_end(Footer::EXIT);
    record.mutable_footer()->set_end_us(400000);
    builder.AddRecord(record);
    builder.Flush();
    return sink.contents();
  }
};

nlohmann::json AnswerOf(const PoolRun& run) {
  const TempFile file(run.Build());
  const Printed printed = Report({"report", "--json", file.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  return nlohmann::json::parse(printed.out)["peak"];
}

// Row of the line at the peak; null: it holds nothing.
nlohmann::json LineOf(const nlohmann::json& moment, int line) {
  for (const auto& place : moment["places"]) {
    if (place["line"] == line) return place;
  }
  return nullptr;
}

TEST(PoolPagesTest, WhoTouchesThemIsCharged) {
  for (const bool scan : {false, true}) {
    const auto peak = AnswerOf({.scan = scan, .imports = scan});
    EXPECT_EQ(peak["parts"]["pools"], 40 * kMiB);
    EXPECT_EQ(peak["parts"]["native_heap"], 0);
    EXPECT_EQ(LineOf(peak, 5), nullptr);
    const auto six = LineOf(peak, 6);
    ASSERT_NE(six, nullptr) << peak;
    EXPECT_EQ(six["bytes"], 40 * kMiB);
    EXPECT_EQ(six["pool_bytes"], 40 * kMiB);
    EXPECT_EQ(six["kept_by"], "libpool");
  }
}

// What grew in own code may have come on an earlier line: it counts half.
TEST(PoolPagesTest, GrowthWithinACallIsLikelier) {
  const auto peak = AnswerOf({.scan = true, .calls = true});
  EXPECT_EQ(LineOf(peak, 8), nullptr);
  const auto six = LineOf(peak, 6);
  ASSERT_NE(six, nullptr) << peak;
  EXPECT_EQ(six["pool_bytes"], 40 * kMiB);
}

// It found nothing there before the peak. What it finds afterwards was there.
TEST(PoolPagesTest, TheNextScanTellsWhatWasInThemAtThePeak) {
  const auto peak = AnswerOf({.scan = true, .peak_mib = 9});
  EXPECT_EQ(peak["rss_bytes"], 50 * kMiB);
  EXPECT_EQ(peak["parts"]["pools"], 40 * kMiB);
  EXPECT_EQ(peak["parts"]["free"], 9 * kMiB);
  const auto six = LineOf(peak, 6);
  ASSERT_NE(six, nullptr) << peak;
  EXPECT_EQ(six["pool_bytes"], 40 * kMiB);
  EXPECT_EQ(six["kept_by"], "libpool");
}

// At each step, and not at the peak alone.
TEST(PoolPagesTest, TheyHaveTheirMemoryOverTime) {
  for (const bool scan : {false, true}) {
    const TempFile file(PoolRun{.scan = scan}.Build());
    const Console console{"test", nullptr};
    const auto answer =
        ReadAnswer(RereadFile::Open(file.path(), console).get());
    ASSERT_NE(answer, nullptr);
    const std::vector<PlaceHolding>& places = answer->peak.split.places;
    const auto six =
        std::find_if(places.begin(), places.end(),
                     [](const auto& one) { return one.place.line == 6; });
    ASSERT_NE(six, places.end());
    const std::vector<double> curve = answer->over_time.bytes.at(six->place);
    ASSERT_EQ(curve.size(), Answer::kSteps);
    EXPECT_EQ(curve[0], 0);
    // Pages come until 0.1 s. A scan has seen them at 0.3 s, near the end.
    for (size_t step = scan ? 9 : 3; step < curve.size(); ++step) {
      EXPECT_EQ(curve[step], 40 * kMiB) << step;
    }
  }
}

TEST(PoolPagesTest, AnMmapObjectIsItsMakersOwn) {
  for (const bool scan : {false, true}) {
    const auto peak = AnswerOf(
        {.scan = scan, .mapper = "/usr/lib/lib-dynload/mmap.cpython-311.so"});
    EXPECT_EQ(peak["parts"]["pools"], 0);
    EXPECT_EQ(peak["parts"]["native_heap"], 40 * kMiB);
    EXPECT_EQ(LineOf(peak, 5)["bytes"], 40 * kMiB);
    EXPECT_EQ(LineOf(peak, 6), nullptr);
  }
}

// After the last scan. The kernel counts it together with 5 MiB of files.
TEST(PoolPagesTest, AnMmapObjectIsNoFileBeforeItIsScanned) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  header.set_cwd("/src");
  header.set_page_scan(true);
  header.set_calls_off(true);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  HeapEvent map = MapEvent(
      1000, kGiB, 40 * kMiB,
      builder.AddStack(0, builder.AddCode("/src/job.py", "load", 3), 5));
  map.code = builder.AddMapping("/usr/lib/lib-dynload/mmap.cpython-311.so");
  const uint32_t python = builder.AddMapping("/usr/bin/python3");
  builder.AddResidency(0, 10, 8 * kMiB,
                       {{100, 8 * kMiB / kPage, python, true, false}});
  builder.AddHeap({map});
  Record record;
  ProcessSample* const sample = record.mutable_process();
  sample->set_time_us(200000);
  sample->set_rss_bytes(53 * kMiB);
  sample->set_hwm_bytes(53 * kMiB);
  sample->set_file_bytes(53 * kMiB);
  builder.AddRecord(record);
  builder.Flush();
  const TempFile file(sink.contents());
  const Printed printed = Report({file.path(), "--json"});
  const auto peak = nlohmann::json::parse(printed.out)["peak"];
  EXPECT_EQ(peak["parts"]["native_heap"], 40 * kMiB) << printed.out;
  EXPECT_EQ(peak["parts"]["files_and_code"], 5 * kMiB);
  EXPECT_EQ(LineOf(peak, 5)["bytes"], 40 * kMiB);
}

TEST(PoolPagesTest, WhatBlocksLeaveInAMallocIsFree) {
  const auto peak = AnswerOf({.malloc = true});
  EXPECT_EQ(peak["parts"]["pools"], 0);
  EXPECT_EQ(peak["parts"]["native_heap"], 10 * kMiB);
  EXPECT_EQ(peak["parts"]["free"], 30 * kMiB);
  EXPECT_EQ(LineOf(peak, 7)["bytes"], 10 * kMiB);
}

TEST(PoolPagesTest, TheFirstScreenNamesWhoKeepsThem) {
  const TempFile faults(PoolRun().Build());
  const std::string text = Report({faults.path()}).out;
  EXPECT_THAT(text, HasSubstr("job.py:6 was the first to use 40 MiB of it"));
  EXPECT_THAT(text, HasSubstr("kept by libpool"));
  EXPECT_THAT(text, HasSubstr("\n  pools of C libraries         40 MiB"));
  EXPECT_THAT(text, HasSubstr("  job.py:6  [libpool]"));
  const TempFile scanned(PoolRun{.scan = true}.Build());
  EXPECT_THAT(
      Report({scanned.path()}).out,
      HasSubstr("job.py:6 was running while this was added: 40 MiB of it"));
}

TEST(PoolPagesTest, TheTableOfResidentMemoryChargesTheSame) {
  const TempFile file(PoolRun().Build());
  const Printed printed =
      Report({"resident", file.path(), "--owner", "heap", "--json"});
  for (const auto& row : nlohmann::json::parse(printed.out)) {
    if (row["line"] == 6) {
      EXPECT_EQ(row["resident_bytes"], 40 * kMiB);
      return;
    }
  }
  ADD_FAILURE() << printed.out;
}

TEST(PoolPagesTest, LibrariesHaveShortNames) {
  EXPECT_EQ(LibraryName("/usr/lib/libarrow.so.2600"), "libarrow");
  EXPECT_EQ(LibraryName("/x/libscipy_openblas64_-ff651d7f.so"),
            "libscipy_openblas64");
  EXPECT_EQ(LibraryName(""), "?");
}

}  // namespace
}  // namespace pymemrun
