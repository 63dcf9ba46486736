// What C code has mapped, in each report of what is alive.
#include "readers/replay/heap_in_rss/heap_mapped.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/heap_in_rss/heap_pages.h"
#include "readers/testing/mapping_events_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// With --native, line 6 maps a GiB and unmaps a quarter of it, line 5 maps 2
// pages and allocates 8000 bytes, which is the peak. With page events 3 pages
// of line 6's are touched then, both of line 5's, and 7 without a line. At 5
// ms half of the 8000 bytes is freed, and line 6 maps 1 MiB more.
// `objects`: the mappings are objects of Python's module mmap.
std::string NativeRun(bool pages, bool objects = false) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  header.set_first_rss_bytes(0);
  if (pages) header.set_page_period(1);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  builder.AddMapping("/usr/bin/python3.11");
  const uint32_t code = builder.AddCode("/job.py", "load", 3);
  const uint32_t five = builder.AddStack(0, code, 5);
  const uint32_t six = builder.AddStack(0, code, 6);
  HeapEvent large = MapEvent(1000, kGiB, kGiB, six);
  HeapEvent small = MapEvent(1002, 8 * kGiB, 2 * kPage, five);
  if (objects) {
    large.code = small.code =
        builder.AddMapping("/usr/lib/lib-dynload/mmap.cpython-311.so");
  }
  builder.AddHeap({large, UnmapEvent(1001, kGiB, kGiB / 4), small,
                   AllocEvent(1003, 0x10000, 4000, five),
                   AllocEvent(1004, 0x20000, 4000, five)});
  if (pages) {
    builder.AddPages(CamePages(1500, 3 * kGiB / 2 / kPage, 3, five));
    builder.AddPages(CamePages(1600, 8 * kGiB / kPage, 2, six));
    builder.AddPages(CamePages(1700, 100 * kGiB / kPage, 7, six));
  }
  builder.AddHeap(
      {FreeEvent(5000, 0x20000), MapEvent(5001, 16 * kGiB, 1 << 20, six)});
  Record record;
  record.mutable_footer()->set_end(Footer::EXIT);
  record.mutable_footer()->set_end_us(10000);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

// With page events of one thread, and nothing else yet.
void BeginNativeRun(RunBuilder* builder) {
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  header.set_heap_native(true);
  header.set_page_period(1);
  header.set_first_rss_bytes(0);
  builder->AddHeader(header);
  builder->AddThread("MainThread", 4711);
  builder->AddMapping("/usr/bin/python3.11");
}

std::string Of(std::vector<std::string> arguments, bool pages = false,
               bool objects = false) {
  TempFile file(NativeRun(pages, objects));
  arguments.insert(arguments.begin() + 1, file.path());
  const Printed printed = Report(arguments);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed.out;
}

TEST(HeapMappedTest, WithoutPageEventsItHasALineOfItsOwn) {
  EXPECT_EQ(Of({"heap", "--csv"}),
            "file,line,function,live_bytes,live_count,share,mapped_bytes\r\n"
            "/job.py,5,load,8000,2,1.000000,\r\n"
            "\"<reserved, not known to be touched>\",,,,,,805314560\r\n");
}

TEST(HeapMappedTest, TheHeadingSaysItToo) {
  const std::string text = Of({"heap"});
  EXPECT_THAT(text, HasSubstr("live 7.8 KiB in 2 blocks at the peak of "
                              "live bytes (RSS was not read), 0.001 s\n"));
  EXPECT_THAT(text, HasSubstr("reserved, not known to be touched: 768.0 MiB in "
                              "2 mappings\n"));
  EXPECT_THAT(text, HasSubstr("allocated 7.8 KiB in 2 blocks, freed "));
}

TEST(HeapMappedTest, PageEventsTellWhatIsResident) {
  EXPECT_EQ(Of({"heap", "--csv", "--at", "heap-peak"}, true),
            "file,line,function,live_bytes,live_count,share,mapped_bytes\r\n"
            "/job.py,5,load,8000,2,1.000000,0\r\n");
  EXPECT_EQ(Of({"heap", "--csv", "--at", "exit"}, true),
            "file,line,function,live_bytes,live_count,share,mapped_bytes\r\n"
            "/job.py,6,load,0,0,0.000000,12288\r\n"
            "/job.py,5,load,4000,1,1.000000,8192\r\n");
  EXPECT_THAT(Of({"heap", "--at", "exit"}, true),
              HasSubstr("mapped by C code: 20.0 KiB resident of 769.0 MiB in 3 "
                        "mappings\n"));
}

TEST(HeapMappedTest, ReservedIsByPlaceWhereItIsAskedFor) {
  EXPECT_EQ(Of({"heap", "--csv", "--reserved"}),
            "file,line,function,reserved_bytes,reserved_count,share,"
            "mapped_bytes\r\n"
            "/job.py,6,load,805306368,1,0.999990,\r\n"
            "/job.py,5,load,8192,1,0.000010,\r\n");
  EXPECT_EQ(
      Of({"heap", "--csv", "--reserved", "--by", "allocator", "--at", "exit"},
         true),
      "allocator,reserved_bytes,reserved_count,share,mapped_bytes\r\n"
      "mmap,806363136,3,1.000000,20480\r\n");
}

TEST(HeapMappedTest, ReservedHasAMoment) {
  EXPECT_THAT(Of({"heap", "--reserved"}, true),
              HasSubstr("mapped by C code at the peak of RSS, 0.002 s\n"));
  EXPECT_THAT(Of({"heap", "--reserved", "--at", "0.006"}, true),
              HasSubstr("mapped by C code at 0.006 s\n"));
}

TEST(HeapMappedTest, ReservedNeedsARunWithNative) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  builder.AddHeap({AllocEvent(1003, 0x10000, 4000, 0)});
  builder.Flush();
  TempFile file(sink.contents());
  const Printed printed = Report({"heap", file.path(), "--reserved"});
  EXPECT_EQ(printed.code, kExitUsage);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err,
              HasSubstr(": has no allocations of C code: record them "));
}

TEST(HeapMappedTest, AChangeOfItIsBesideThoseOfBlocks) {
  EXPECT_EQ(Of({"heap", "--csv", "--at", "0.002", "--to", "exit"}),
            "file,line,function,change_bytes,change_count,before_bytes,"
            "after_bytes,mapped_bytes\r\n"
            "/job.py,5,load,-4000,-1,8000,4000,\r\n"
            "\"<reserved, not known to be touched>\",,,,,,,1048576\r\n");
}

TEST(HeapMappedTest, LeaksAndTemporaryBlocksAreOfBlocks) {
  const std::string leaks = Of({"heap", "--leaks"});
  EXPECT_THAT(leaks,
              HasSubstr("alive at the program's end: 3.9 KiB in 1 block"));
  EXPECT_THAT(leaks, HasSubstr("reserved, not known to be touched: 769.0 MiB"));
  EXPECT_EQ(Of({"heap", "--csv", "--temporary", "9"}),
            "file,line,function,temporary_bytes,temporary_count,share\r\n"
            "/job.py,5,load,4000,1,1.000000\r\n");
}

TEST(HeapMappedTest, HistoryHasAColumnForIt) {
  EXPECT_EQ(Of({"history", "--csv", "--from", "0.002", "--interval", "4ms",
                "--to", "0.006"}),
            "time_s,live_bytes,/job.py:5 load,other places,"
            "\"<reserved, not known to be touched>\"\r\n"
            "0.002000,8000,8000,0,805314560\r\n"
            "0.006000,4000,4000,0,806363136\r\n");
}

TEST(HeapMappedTest, TimelineByHeapHasItBesideRss) {
  const std::string text = Of({"timeline", "--by", "heap", "--format", "csv"});
  EXPECT_THAT(text, HasSubstr("time_s,rss_bytes,python_bytes,native_bytes,"
                              "tracing_bytes,rest_bytes,reserved_bytes\r\n"));
  EXPECT_THAT(text, HasSubstr(",4000,0,0,"));
  EXPECT_THAT(text, HasSubstr(",806363136\r\n"));
  EXPECT_THAT(Of({"timeline", "--by", "heap"}),
              HasSubstr("; reserved, not known to be touched: up to 1.0 GiB"));
}

TEST(HeapMappedTest, StacksFlamesAndExportsHaveNothingOfIt) {
  EXPECT_EQ(Of({"snapshot", "--collapsed"}), "load (/job.py:5) 8000\n");
  const std::string json = Of({"snapshot", "--json"});
  EXPECT_THAT(json, Not(HasSubstr("mmap")));
  EXPECT_THAT(Of({"snapshot"}),
              HasSubstr("\nreserved by C code: 768.0 MiB in 2 "
                        "mappings; the stacks here do not include it\n"));
  const std::string flame = Of({"flame"});
  EXPECT_THAT(flame, Not(HasSubstr("/job.py:6")));
  EXPECT_THAT(flame, HasSubstr("; reserved by C code: 768.0 MiB in 2 "
                               "mappings; the stacks here do not include it"));
  EXPECT_EQ(Of({"export", "--format", "collapsed"}), "load (/job.py:5) 8000\n");
  EXPECT_THAT(Of({"export", "--format", "speedscope"}),
              HasSubstr("\"endValue\":8000"));
}

TEST(HeapMappedTest, PagesOfAPoolAreTheirTouchers) {
  EXPECT_EQ(Of({"resident", "--owner", "heap", "--csv", "--at", "exit"}, true),
            "file,line,function,resident_bytes,heap_bytes,share\r\n"
            "/job.py,6,load,36864,0,0.750000\r\n"
            "/job.py,5,load,12288,0,0.250000\r\n"
            "unattributed,,,0,,0.000000\r\n");
}

TEST(HeapMappedTest, PagesOfAnMmapObjectAreItsMakers) {
  EXPECT_EQ(Of({"resident", "--owner", "heap", "--csv", "--at", "exit"}, true,
               /*objects=*/true),
            "file,line,function,resident_bytes,heap_bytes,share\r\n"
            "/job.py,6,load,40960,12288,0.833333\r\n"
            "/job.py,5,load,8192,8192,0.166667\r\n"
            "unattributed,,,0,,0.000000\r\n");
}

// A run of nothing yet but a function and its line 5.
struct LineFiveRun {
  LineFiveRun() {
    BeginNativeRun(&builder);
    code = builder.AddCode("/job.py", "load", 3);
    five = builder.AddStack(0, code, 5);
  }

  StringSink sink;
  RunBuilder builder{&sink};
  uint32_t code;
  uint32_t five;
};

// Line 5 maps a page, then the program ends, and line 6 maps another in the
// same microsecond; a page of each is touched.
TEST(HeapMappedTest, LeaksKnowWhatWasMappedBeforeTheEndAlone) {
  LineFiveRun run;
  auto& [sink, builder, code, five] = run;
  builder.AddPages(CamePages(500, kGiB / kPage, 100, five));
  std::vector<HeapEvent> events = {MapEvent(1000, kGiB, kPage, five)};
  for (uint64_t i = 1; i < 90; ++i) {
    events.push_back(MapEvent(1000, kGiB + i * kPage, kPage,
                              builder.AddStack(0, code, 5 + i)));
  }
  builder.AddHeap(events);
  Record record;
  Footer* const footer = record.mutable_footer();
  footer->set_end(Footer::EXIT);
  footer->set_finalize(Footer::FINALIZED);
  footer->set_end_us(10000);
  footer->set_heap_allocations(events.size());
  footer->set_finalize_us(2000);
  footer->set_finalize_heap_events(1);
  builder.AddRecord(record);
  builder.Flush();
  TempFile file(sink.contents());
  EXPECT_EQ(Report({"heap", file.path(), "--leaks", "--csv"}).out,
            "file,line,function,live_bytes,live_count,share,mapped_bytes\r\n"
            "/job.py,5,load,0,0,0.000000,4096\r\n");
}

// For a huge page only the fault is known until the kernel is asked.
TEST(HeapMappedTest, WhatTheKernelSaidLaterCounts) {
  LineFiveRun run;
  auto& [sink, builder, code, five] = run;
  const uint32_t none = builder.AddMapping("");
  builder.AddResidency(0, 1, 0, {{1, 1, none, false, false}});
  builder.AddHeap({MapEvent(900, kGiB, 2 << 20, five)});
  builder.AddPages(CamePages(1000, kGiB / kPage, 1, five));
  builder.AddResidency(9000, 9001, 0, {{kGiB / kPage, 512, none, false, true}});
  Record record;
  record.mutable_footer()->set_end_us(10000);
  builder.AddRecord(record);
  builder.Flush();
  TempFile file(sink.contents());
  EXPECT_EQ(Report({"heap", file.path(), "--csv", "--at", "0.002"}).out,
            "file,line,function,live_bytes,live_count,share,mapped_bytes\r\n"
            "/job.py,5,load,0,0,0.000000,2097152\r\n");
  EXPECT_THAT(Report({"resident", file.path(), "--owner", "heap", "--csv",
                      "--at", "0.002"})
                  .out,
              HasSubstr("/job.py,5,load,2097152,0,"));
}

// Blocks in it come first: what they leave of a page is the mapping's.
TEST(HeapMappedTest, BlocksWithinAMappingAreNotChargedTwice) {
  ResidentModel pages;
  pages.Add(CamePages(1, 100, 1, 1)[0]);
  pages.Add(CamePages(1, 101, 1, 1)[0]);
  HeapModel heap;
  heap.SetBlockMapper(0);
  const std::vector<HeapEvent> events = {
      MapEvent(1, 100 * kPage, 2 * kPage - 96, 2),
      AllocEvent(2, 100 * kPage + 16, 1000, 3)};
  heap.Add(events.data(), events.size());
  const HeapCharges charges = ChargePages(pages, heap);
  EXPECT_EQ(charges.by_source[1], 2 * kPage - 96 - 1000);
  EXPECT_EQ(charges.by_source[2], 1000);
  EXPECT_EQ(charges.slack_bytes, 96);
}

TEST(HeapMappedTest, PymemcatTellsWhatGoesAndMoves) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddHeap({MapEvent(1000, 4096, 8192, 1)});
  builder.AddHeap(MoveEvents(1000, 4096, 8192, 65536, 12288, 1));
  builder.AddHeap({UnmapEvent(1001, 65536, 4096)});
  builder.Flush();
  TempFile file(sink.contents());
  EXPECT_EQ(Cat({file.path(), "--records", "heap", "--csv", "--columns",
                 "what,address,size_bytes,allocator,weight"})
                .out,
            "what,address,size_bytes,allocator,weight\r\n"
            "ALLOC,0x1000,8192,mmap,1\r\n"
            "MOVE,0x1000,8192,,\r\n"
            "ALLOC,0x10000,12288,mremap,\r\n"
            "UNMAP,0x10000,4096,,\r\n");
}

}  // namespace
}  // namespace pymemrun
