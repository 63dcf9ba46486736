#include "readers/replay/heap_in_rss/heap_pages.h"

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

TEST(ChargePagesTest, EachByteIsItsBlocksOrSlackOrTheTouchers) {
  std::mt19937_64 random(9);
  ResidentModel pages;
  HeapModel heap;
  std::map<uint64_t, uint32_t> owner_of;  // by page: the toucher's stack
  for (uint64_t page = 100; page < 300; ++page) {
    if (random() % 4 == 0) continue;
    PageEntry entry = CamePages(page, page, 1, 1 + page % 3)[0];
    pages.Add(entry);
    owner_of[page] = entry.stack;
  }
  std::map<uint64_t, uint32_t> block_of;  // by byte: the block's stack
  uint64_t address = 90 * kPage;
  while (address < 320 * kPage) {
    address += random() % 3 == 0 ? random() % 20000 : random() % 64;
    const uint64_t size = random() % 9 == 0 ? random() % 30000 : random() % 500;
    const auto stack = static_cast<uint32_t>(1 + random() % 5);
    const HeapEvent event = AllocEvent(1, address, size, stack);
    heap.Add(&event, 1);
    for (uint64_t i = 0; i < size; ++i) block_of[address + i] = stack;
    address += size + 1;
  }
  const HeapCharges charges = ChargePages(pages, heap);
  std::map<uint32_t, double> by_stack, by_toucher;
  double slack = 0;
  for (const auto& [page, toucher] : owner_of) {
    double used = 0;
    for (uint64_t at = page * kPage; at < (page + 1) * kPage; ++at) {
      const auto found = block_of.find(at);
      if (found == block_of.end()) continue;
      by_stack[found->second] += 1;
      ++used;
    }
    if (used == 0) by_toucher[toucher] += kPage;
    if (used > 0) slack += kPage - used;
  }
  EXPECT_EQ(charges.slack_bytes, slack);
  EXPECT_GT(slack, 0);
  for (uint32_t i = 1; i < heap.sources().size(); ++i) {
    EXPECT_EQ(charges.by_source[i], by_stack[heap.sources()[i].key.stack]);
  }
  for (uint32_t i = 1; i < pages.owners().size(); ++i) {
    EXPECT_EQ(charges.by_owner[i], by_toucher[pages.owners()[i].stack]);
  }
}

// In a huge page each would stand for itself, but there is room for one owner.
TEST(ChargePagesTest, PagesWithoutRoomForAnotherOwnerKeepTheirWeight) {
  ResidentModel::Limits limits;
  limits.owners = 1;
  ResidentModel pages(limits);
  PageEntry came = CamePages(10, 512, 1, 1)[0];
  came.weight = 4;
  pages.Add(came);
  const std::vector<ResidentRange> huge = {{512, 512, 1, false, true}};
  pages.Add(ResidencyView{20, 21, 0, huge});
  EXPECT_EQ(pages.OwnedBytes(), 4 * kPage);
  EXPECT_EQ(ChargePages(pages, HeapModel()).by_owner[1], 4 * kPage);
}

TEST(ChargePagesTest, SamplesThatStandForMoreThanThePageShareIt) {
  ResidentModel pages;
  pages.Add(CamePages(1, 100, 1, 1)[0]);
  pages.Add(CamePages(1, 101, 1, 1)[0]);
  HeapModel heap;
  HeapRates rates;
  rates.add_classes()->set_below_bytes(1000);
  rates.mutable_classes(0)->set_probability(0.1);
  heap.SetRates(rates);
  const std::vector<HeapEvent> events = {
      AllocEvent(1, 100 * kPage, 100, 1),
      AllocEvent(1, 100 * kPage + 512, 500, 2),
      AllocEvent(1, 101 * kPage, 200, 3)};
  heap.Add(events.data(), events.size());
  const HeapCharges charges = ChargePages(pages, heap);
  EXPECT_DOUBLE_EQ(charges.by_source[1], 4096 / 6.0);
  EXPECT_DOUBLE_EQ(charges.by_source[2], 4096 * 5 / 6.0);
  EXPECT_DOUBLE_EQ(charges.by_source[3], 2000);
  EXPECT_DOUBLE_EQ(charges.slack_bytes, 2096);
}

// Line 5 touches pages 1000 to 1009; line 6 allocates a block of 5000 bytes in
// the first two, line 5 one of 96 in the third.
std::string RunWithBoth(HeapMode mode, uint32_t weight = 1) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(1);
  header.set_own_bytes(0);
  header.set_first_rss_bytes(0);
  header.set_heap(mode);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  const uint32_t code = builder.AddCode("/job.py", "load", 3);
  const uint32_t five = builder.AddStack(0, code, 5);
  const uint32_t six = builder.AddStack(0, code, 6);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddResidency(0, 10, 4 * kPage, {{100, 4, 1, true, false}});
  std::vector<PageEntry> pages = CamePages(1000, 1000, 10, five);
  for (PageEntry& page : pages) page.weight = weight;
  builder.AddPages(pages);
  if (mode != HEAP_OFF) {
    builder.AddHeap({AllocEvent(1100, 1000 * kPage, 5000, six),
                     AllocEvent(1200, 1002 * kPage + 1000, 96, five)});
  }
  builder.AddProcess(2000, 15 * kPage, 15 * kPage);
  Record record;
  record.mutable_footer()->set_end_us(10000);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

TEST(ResidentOwnerHeapTest, PagesWithBlocksAreChargedToThem) {
  TempFile file(RunWithBoth(HEAP_ALL));
  EXPECT_EQ(Report({"resident", file.path(), "--owner", "heap", "--csv", "--at",
                    "exit"})
                .out,
            "file,line,function,resident_bytes,heap_bytes,share\r\n"
            "/job.py,5,load,28768,96,0.468229\r\n"
            "/job.py,6,load,5000,5000,0.081380\r\n"
            "<allocator slack>,,,7192,,0.117057\r\n"
            "<before tracing>,,,16384,,0.266667\r\n"
            "unattributed,,,4096,,0.066667\r\n");
  EXPECT_THAT(Report({"resident", file.path(), "--owner", "heap"}).out,
              HasSubstr("\npages with live blocks: charged to who allocated "
                        "the blocks, by their bytes in the page\n"));
}

TEST(ResidentOwnerHeapTest, OfASampledRunItIsSaidWhatThatMeans) {
  TempFile file(RunWithBoth(HEAP_SAMPLED));
  EXPECT_THAT(
      Report({"resident", file.path(), "--owner", "heap"}).out,
      HasSubstr("\nanonymous memory: charged to who allocated blocks in "
                "it, as estimated from samples\n"));
}

// The peak is later than the last heap event, and no option asks for that time.
TEST(ResidentOwnerHeapTest, OfACutFileThePeakMayBeAfterAllHeapEvents) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(1);
  header.set_own_bytes(0);
  header.set_first_rss_bytes(0);
  header.set_heap(HEAP_ALL);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddHeap({AllocEvent(1100, 1000 * kPage, 5000, 1)});
  std::vector<PageEntry> pages = CamePages(9000, 1000, 10, 1);
  for (PageEntry& page : pages) page.code_mapping = 0;
  builder.AddPages(pages);
  builder.Flush();
  TempFile file(sink.contents());
  const Printed printed = Report({"resident", file.path(), "--owner", "heap"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr(": no footer: "));
  EXPECT_THAT(printed.err, Not(HasSubstr("after the run's end")));
}

// In groups of four, 1000 to 1007 are a pair, and so are 1008 and 1009 with
// what is not there.
TEST(ResidentOwnerHeapTest, WhereOnePageInFourWasRecordedItStandsForFour) {
  TempFile file(RunWithBoth(HEAP_ALL, 4));
  const auto rows =
      nlohmann::json::parse(Report({"resident", file.path(), "--owner", "heap",
                                    "--json", "--at", "exit"})
                                .out);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0]["resident_bytes"], 4 * 28768);
  EXPECT_EQ(rows[1]["resident_bytes"], 4 * 5000);
  EXPECT_EQ(rows[1]["error_bytes"], 4 * 5000);
  EXPECT_EQ(rows[2]["resident_bytes"], 4 * 7192);
  EXPECT_EQ(rows[2]["error_bytes"], 4 * 7192);
  EXPECT_EQ(rows[3]["error_bytes"], 0);
  // In the sum the ends count, and that a group may seem empty.
  EXPECT_NEAR(rows[4]["error_bytes"].get<double>(),
              std::sqrt((16 * 16 + 8 * 8) / 6.0 + 16 * 16 * 3 / 16.0) * kPage,
              1);
}

TEST(ResidentOwnerHeapTest, AllRowsAddUpToRss) {
  TempFile file(RunWithBoth(HEAP_ALL));
  for (const char* by : {"line", "function", "file", "thread", "module"}) {
    for (const char* at : {"peak", "exit", "0.00115"}) {
      int64_t sum = 0;
      for (const auto& row : nlohmann::json::parse(
               Report({"resident", file.path(), "--owner", "heap", "--json",
                       "--by", by, "--at", at, "--limit", "1"})
                   .out)) {
        sum += row["resident_bytes"].get<int64_t>();
      }
      EXPECT_EQ(sum, at[0] == '0' ? 14 * 4096 : 15 * 4096) << by << at;
    }
  }
}

TEST(ResidentOwnerHeapTest, Stacks) {
  TempFile file(RunWithBoth(HEAP_ALL));
  EXPECT_EQ(Report({"resident", file.path(), "--owner", "heap", "--collapsed",
                    "--at", "exit"})
                .out,
            "load (/job.py:5) 28768\n"
            "<before tracing> 16384\n"
            "<allocator slack> 7192\n"
            "load (/job.py:6) 5000\n"
            "unattributed 4096\n");
  EXPECT_THAT(Report({"resident", file.path(), "--owner", "heap", "--collapsed",
                      "--by", "thread"})
                  .out,
              HasSubstr("MainThread#4711;load (/job.py:6) 5000\n"));
}

TEST(ResidentOwnerHeapTest, NeedsHeapEvents) {
  TempFile file(RunWithBoth(HEAP_OFF));
  const Printed printed = Report({"resident", file.path(), "--owner", "heap"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr(": has no heap events: "));
}

// Line 5 touches 10 pages and has 96 bytes there, line 6 of the worker 5000.
TEST(ResidentOwnerHeapTest, OtherThreadsAreOneRow) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(1);
  header.set_own_bytes(0);
  header.set_first_rss_bytes(0);
  header.set_heap(HEAP_ALL);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddThread("worker", 4712);
  const uint32_t code = builder.AddCode("/job.py", "load", 3);
  const uint32_t five = builder.AddStack(0, code, 5);
  const uint32_t six = builder.AddStack(0, code, 6);
  builder.AddMapping("[heap]");
  builder.AddPages(CamePages(1000, 1000, 10, five));
  builder.AddHeap({AllocEvent(1100, 1000 * kPage, 5000, six, 2),
                   AllocEvent(1200, 1002 * kPage + 1000, 96, five)});
  builder.AddProcess(2000, 10 * kPage, 10 * kPage);
  builder.Flush();
  TempFile file(sink.contents());
  const auto resident = [&file](std::vector<std::string> options) {
    options.insert(options.begin(), {"resident", file.path(), "--owner", "heap",
                                     "--at", "exit"});
    const Printed printed = Report(options);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return printed.out;
  };
  EXPECT_EQ(resident({"--csv", "--thread", "worker"}),
            "file,line,function,resident_bytes,heap_bytes,share\r\n"
            "/job.py,6,load,5000,5000,0.122070\r\n"
            "<other threads>,,,28768,96,0.702344\r\n"
            "<allocator slack>,,,7192,,0.175586\r\n"
            "unattributed,,,0,,0.000000\r\n");
  EXPECT_THAT(resident({"--collapsed", "--thread", "worker"}),
              HasSubstr("<other threads> 28768\n"));
  EXPECT_THAT(resident({"--collapsed", "--thread", "worker"}),
              HasSubstr("load (/job.py:6) 5000\n"));
}

TEST(ResidentOwnerHeapTest, OfScansNobodyKnowsWhichThreadTouchedPages) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_scan(true);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddResidency(0, 10, 4 * kPage, {{100, 4, 0, false, false}});
  builder.Flush();
  TempFile file(sink.contents());
  for (const char* const command : {"resident", "timeline"}) {
    EXPECT_NE(Report({command, file.path()}).out, "");
    const Printed printed =
        Report({command, file.path(), "--thread", "MainThread"});
    EXPECT_EQ(printed.code, 2) << command;
    EXPECT_EQ(printed.out, "") << command;
    EXPECT_THAT(printed.err, HasSubstr("which thread touched them is unknown"))
        << command;
  }
}

}  // namespace
}  // namespace pymemrun
