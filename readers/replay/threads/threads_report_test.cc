#include <cmath>
#include <string>
#include <vector>

#include "format/records/stack_depths.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/report/pymemreport.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kColumns[] =
    "thread,growth_bytes,shrinkage_bytes,net_bytes,peak_bytes,peak_error_bytes,"
    "live_bytes,live_error_bytes,first_s,last_s,rows,top_line\r\n";

Printed Threads(const std::string& run, std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {"threads", file.path()});
  return Report(options);
}

TEST(ThreadsReportTest, WhoBroughtPagesAndWhoGaveThemBack) {
  const Printed printed = Threads(PageEventsRun().Build(), {"--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(
      printed.out,
      std::string(kColumns) +
          "MainThread#4711,204800,163840,40960,204800,,,,0.000000,0.400000,"
          "0,/job.py:5 load\r\n"
          "worker#4712,122880,0,122880,122880,,,,0.000000,0.150290,0,"
          "/job.py:6 load\r\n"
          "unattributed,,,86016,,,,,,,,\r\n");
  EXPECT_THAT(Threads(PageEventsRun().Build(), {}).out,
              HasSubstr("unattributed"));
}

// What a thread adds another one may release.
TEST(ThreadsReportTest, ShrinkageIsOfTheThreadWhoseCallItWas) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddThread("worker", 2);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(1000, 100, 10, 1, 2));
  builder.AddPages({RangeEntry(5000, PAGES_UNMAPPED, 100, 8)});
  builder.AddProcess(6000, 2 * kPage, 10 * kPage);
  builder.Flush();
  const Printed printed = Threads(sink.contents(), {"--json"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const auto rows = nlohmann::json::parse(printed.out);
  EXPECT_EQ(rows[0]["thread"], "worker#2");
  EXPECT_EQ(rows[0]["growth_bytes"], 10 * kPage);
  EXPECT_EQ(rows[0]["shrinkage_bytes"], 0);
  EXPECT_EQ(rows[1]["thread"], "MainThread#1");
  EXPECT_EQ(rows[1]["net_bytes"], -8 * static_cast<int64_t>(kPage));
  // It only released memory.
  EXPECT_EQ(rows[1]["top_line"], "/job.py:2 f");
  EXPECT_EQ(rows[2]["thread"], "unattributed");
  EXPECT_EQ(rows[2]["net_bytes"], 0);
}

// Ten mapped pages at line 3, and a small object of line 4.
std::string MappedRun(uint64_t object_bytes) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(1);
  header.set_heap(HEAP_ALL);
  header.set_first_rss_bytes(0);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  const uint32_t code = builder.AddCode("/job.py", "f", 1);
  const uint32_t fills = builder.AddStack(0, code, 3);
  const uint32_t holds = builder.AddStack(0, code, 4);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddHeap({AllocEvent(500, 0x5000, object_bytes, holds)});
  builder.AddPages(CamePages(1000, 200, 10, fills));
  builder.Flush();
  return sink.contents();
}

TEST(ThreadsReportTest, ASmallObjectDoesNotStandForMappedMemory) {
  const auto top_line = [](uint64_t object_bytes) {
    const auto rows =
        nlohmann::json::parse(Threads(MappedRun(object_bytes), {"--json"}).out);
    return rows[0]["top_line"].get<std::string>();
  };
  EXPECT_EQ(top_line(100), "/job.py:3 f");
  EXPECT_EQ(top_line(8 * kPage), "/job.py:4 f");
}

// A page that left unseen, and comes again, makes RSS no higher.
TEST(ThreadsReportTest, APageThatIsThereIsNoGrowth) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(1000, 100, 10, 1));
  builder.AddPages(CamePages(2000, 100, 10, 1));
  builder.Flush();
  const auto rows =
      nlohmann::json::parse(Threads(sink.contents(), {"--json"}).out);
  EXPECT_EQ(rows[0]["growth_bytes"], 10 * kPage);
}

// What the interpreter brings as it starts is not growth.
TEST(ThreadsReportTest, WhatCameBeforeTheProgramIsNoGrowth) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder, 5 * kPage);
  builder.AddMapping("/usr/bin/python3.11");
  std::vector<PageEntry> before = CamePages(0, 100, 5, 1);
  for (PageEntry& entry : before) entry.time_us = 0;
  builder.AddPages(before);
  builder.AddPages(CamePages(1000, 200, 3, 1));
  builder.Flush();
  const auto rows =
      nlohmann::json::parse(Threads(sink.contents(), {"--json"}).out);
  EXPECT_EQ(rows[0]["growth_bytes"], 3 * kPage);
  EXPECT_EQ(rows[1]["net_bytes"], 0);
}

TEST(ThreadsReportTest, FewThreadsAreListedAndTheOthersAddedUp) {
  const Printed printed =
      Threads(PageEventsRun().Build(), {"--csv", "--limit", "1"});
  EXPECT_THAT(
      printed.out,
      HasSubstr("\r\n<other threads>,122880,0,122880,122880,,,,0.000000,"
                "0.150290,0,\r\n"));
}

TEST(ThreadsReportTest, TheTextSaysWhatItCounts) {
  const Printed printed = Threads(PageEventsRun().Build(), {});
  EXPECT_THAT(printed.out, HasSubstr("growth: pages that a thread added"));
  EXPECT_THAT(printed.out, HasSubstr("worker#4712"));
  EXPECT_THAT(printed.out, HasSubstr("/job.py:5 load"));
}

// Threads 2 and 3 are one. Thread 4 has its number later.
std::string RenamedRun() {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder, 100 * kPage);
  builder.AddThread("pool", 8);
  builder.AddThread("worker", 8, 2);
  builder.AddThread("worker", 9);
  const uint32_t native =
      builder.AddStack(0, builder.AddCode("", kNativeThreadName, 0), 0);
  const uint32_t site = builder.AddSite(RETURN, 1, 3);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(1000, 100, 10, 1, 2));
  builder.AddPages(CamePages(2000, 200, 20, 1, 3));
  builder.AddPages(CamePages(3000, 300, 40, native, 4));
  Row row = MakeRow(0, 4000, site, 170 * kPage, 70 * kPage);
  builder.AddRow(row);
  builder.Flush();
  builder.AddPages(CamePages(5000, 400, 5, 1));
  builder.AddProcess(6000, 180 * kPage, 180 * kPage);
  builder.Flush();
  return sink.contents();
}

TEST(ThreadsReportTest, ARenamedThreadIsOneByItsLastName) {
  EXPECT_EQ(Threads(RenamedRun(), {"--csv"}).out,
            std::string(kColumns) +
                "worker#9,163840,0,163840,163840,,,,0.000000,0.003390,0,"
                "<native thread>\r\n"
                "worker#8,122880,0,122880,122880,,,,0.000000,0.002190,0,"
                "/job.py:2 f\r\n"
                "MainThread#1,20480,0,20480,20480,,,,0.000000,0.005040,1,"
                "/job.py:2 f\r\n"
                "unattributed,,,20480,,,,,,,,\r\n");
  // People see no size that is less than can be known.
  EXPECT_THAT(Threads(RenamedRun(), {}).out, Not(HasSubstr("unattributed")));
}

// Each page stands for 4: three groups that are far from each other.
TEST(ThreadsReportTest, WhatPagesStandForHasAnError) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_page_period(4);
  header.set_page_weight(4);
  header.set_first_rss_bytes(0);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  builder.AddThread("worker", 2);
  builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddMapping("/usr/bin/python3.11");
  std::vector<PageEntry> entries = CamePages(1000, 100, 3, 1, 2);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].page = 1000 * (i + 1);
    entries[i].weight = 4;
  }
  builder.AddPages(entries);
  builder.AddProcess(6000, 12 * kPage, 12 * kPage);
  builder.Flush();
  const auto rows =
      nlohmann::json::parse(Threads(sink.contents(), {"--json"}).out);
  EXPECT_EQ(rows[0]["thread"], "worker#2");
  EXPECT_EQ(rows[0]["peak_bytes"], 12 * kPage);
  EXPECT_EQ(rows[0]["peak_error_bytes"],
            std::llround(std::sqrt(3 * 4 * 4) * kPage));
  EXPECT_EQ(rows[1]["peak_error_bytes"], 0);
  TempFile file(sink.contents());
  const Printed graph = Report({"graph", file.path(), "--csv"});
  EXPECT_EQ(CsvLines(graph)[0],
            "time_s,rss_bytes,worker#2,other threads,worker#2 error_bytes");
  EXPECT_THAT(CsvLines(graph).back(), HasSubstr(",49152,49152,0,28378"));
  const std::string picture = Report({"graph", file.path()}).out;
  EXPECT_THAT(picture, HasSubstr("; estimated: one page in 4 was<"));
  EXPECT_THAT(picture, HasSubstr(">peak 48.0 KiB \u00b127.7 KiB, end 48.0 KiB "
                                 "\u00b127.7 KiB<"));
}

TEST(ThreadsReportTest, ThreadsMayBeChosen) {
  const std::string out =
      Threads(RenamedRun(), {"--csv", "--thread", "worker*"}).out;
  EXPECT_THAT(out, HasSubstr("\r\nworker#8,122880,"));
  EXPECT_THAT(out, HasSubstr("\r\n<other threads>,20480,0,20480,"));
  EXPECT_THAT(out, Not(HasSubstr("MainThread")));
  // By its earlier name it is not known.
  const Printed none = Threads(RenamedRun(), {"--thread", "pool"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("expected MainThread#1, worker#8, worker#9, "
                                  "found 'pool'"));
}

TEST(ThreadsReportTest, ObservedIsWhatEventsSaw) {
  const std::string out =
      Threads(RenamedRun(), {"--csv", "--thread-attribution", "observed"}).out;
  EXPECT_THAT(out, HasSubstr("\r\nMainThread#1,286720,0,286720,,,,,0.000000,"
                             "0.005040,1,\r\n"));
  EXPECT_THAT(out, HasSubstr("\r\nworker#8,0,0,0,,,"));
}

TEST(ThreadsReportTest, WhatIsNotThereCannotBeAskedFor) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_ALL);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 1);
  builder.Flush();
  const Printed printed =
      Threads(sink.contents(), {"--thread-attribution", "caused"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("has no page faults: record them"));
  Header no_calls = header;
  no_calls.set_calls_off(true);
  StringSink other;
  RunBuilder without(&other);
  without.AddHeader(no_calls);
  without.Flush();
  const Printed observed =
      Threads(other.contents(), {"--thread-attribution", "observed"});
  EXPECT_EQ(observed.code, 2);
  EXPECT_THAT(observed.err, HasSubstr("has no calls"));
}

TEST(ThreadsReportTest, TextLeavesOutColumnsOfWhichNothingIsKnown) {
  const std::string text = Threads(RenamedRun(), {}).out;
  EXPECT_THAT(text, Not(HasSubstr("live heap")));
  EXPECT_THAT(text, HasSubstr("at peak"));
  EXPECT_THAT(Threads(RenamedRun(), {"--thread-attribution", "observed"}).out,
              Not(HasSubstr("at peak")));
}

Printed Top(std::vector<std::string> options) {
  TempFile file(RenamedRun());
  options.insert(options.begin(), {"top", file.path(), "--csv"});
  return Report(options);
}

TEST(TopByThreadTest, GrowthIsOfTheThreadThatCausedIt) {
  EXPECT_EQ(Top({"--by", "thread"}).out,
            "thread,growth_bytes,shrinkage_bytes,net_bytes,rows,share\r\n"
            "worker#8,122880,0,122880,0,0.400000\r\n"
            "MainThread#1,20480,0,20480,1,0.066667\r\n"
            "<native threads>,163840,0,163840,0,0.533333\r\n"
            "unattributed,20480,0,20480,0,\r\n"
            "tracing itself,1048576,0,1048576,0,\r\n");
}

TEST(TopByThreadTest, SoItIsForOneThread) {
  const std::string out = Top({"--thread", "worker#8"}).out;
  EXPECT_THAT(out, HasSubstr("\r\n/job.py,2,f,122880,0,122880,0,"));
  EXPECT_THAT(out, HasSubstr("\r\n<other threads>,,,184320,0,184320,1,"));
}

TEST(TopByThreadTest, ObservedIsWhatEventsSaw) {
  const std::string out =
      Top({"--by", "thread", "--thread-attribution", "observed"}).out;
  EXPECT_THAT(out, HasSubstr("\r\nMainThread#1,286720,0,286720,1,1"));
  EXPECT_THAT(out, Not(HasSubstr("worker")));
}

TEST(TopByThreadTest, WithoutPageFaultsEventsTell) {
  TempFile file(SmallRun().Build());
  const Printed usual = Report({"top", file.path(), "--by", "thread"});
  EXPECT_EQ(usual.code, 0) << usual.err;
  EXPECT_THAT(usual.out, HasSubstr("RSS grew while these lines ran"));
  const Printed caused = Report(
      {"top", file.path(), "--by", "thread", "--thread-attribution", "caused"});
  EXPECT_EQ(caused.code, 2);
  EXPECT_THAT(caused.err, HasSubstr("has no page faults: record them"));
}

TEST(TopByThreadTest, TheSummaryDoesSoToo) {
  TempFile file(RenamedRun());
  const std::string lines = "\nlines with the most growth of RSS\n";
  const Printed caused =
      Report({"summary", file.path(), "--thread", "worker*"});
  EXPECT_EQ(caused.code, 0) << caused.err;
  EXPECT_THAT(caused.out.substr(caused.out.find(lines)),
              HasSubstr("120.0 KiB"));
  const Printed observed =
      Report({"summary", file.path(), "--thread", "worker*",
              "--thread-attribution", "observed"});
  EXPECT_THAT(observed.out.substr(observed.out.find(lines)),
              HasSubstr("<other threads>"));
  EXPECT_THAT(observed.out.substr(observed.out.find(lines)),
              Not(HasSubstr("120.0 KiB")));
}

TEST(ThreadsReportTest, WithoutPagesAndHeapNobodyKnows) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 1);
  builder.Flush();
  const Printed printed = Threads(sink.contents(), {});
  EXPECT_NE(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr("has no page faults or heap events"));
  EXPECT_EQ(printed.out, "");
}

TEST(ThreadsReportTest, SortsByAnyColumn) {
  const std::string run = PageEventsRun().Build();
  const Printed all = Threads(run, {"--sort", "thread:desc"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(Threads(run, {"--sort", "thread", "--limit", "1"}).out,
              HasSubstr("1 more thread not shown (--limit)"));
}

}  // namespace
}  // namespace pymemrun
