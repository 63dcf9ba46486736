#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/report/pymemreport.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPage = PageEventsRun::kPage;
constexpr char kColumns[] =
    "thread,growth_bytes,shrinkage_bytes,net_bytes,peak_bytes,live_bytes,"
    "first_s,last_s,rows,top_line\r\n";

Printed Threads(const std::string& run, std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {"threads", file.path()});
  return Report(options);
}

TEST(ThreadsReportTest, WhoBroughtPagesAndWhoGaveThemBack) {
  const Printed printed = Threads(PageEventsRun().Build(), {"--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out,
            std::string(kColumns) +
                "MainThread#4711,204800,163840,40960,204800,,0.000000,0.400000,"
                "0,/job.py:5 load\r\n"
                "worker#4712,122880,0,122880,122880,,0.000000,0.150290,0,"
                "/job.py:6 load\r\n"
                "unattributed,,,86016,,,,,,\r\n");
}

// What a thread brings another one may give back.
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
  EXPECT_EQ(rows[2]["thread"], "unattributed");
  EXPECT_EQ(rows[2]["net_bytes"], 0);
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
  EXPECT_THAT(printed.out,
              HasSubstr("\r\n<other threads>,122880,0,122880,122880,,0.000000,"
                        "0.150290,0,\r\n"));
}

TEST(ThreadsReportTest, TheTextSaysWhatItCounts) {
  const Printed printed = Threads(PageEventsRun().Build(), {});
  EXPECT_THAT(printed.out, HasSubstr("growth: pages that a thread brought"));
  EXPECT_THAT(printed.out, HasSubstr("worker#4712"));
  EXPECT_THAT(printed.out, HasSubstr("/job.py:5 load"));
}

TEST(ThreadsReportTest, WithoutPagesAndHeapNobodyKnows) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 1);
  builder.Flush();
  const Printed printed = Threads(sink.contents(), {});
  EXPECT_NE(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr("has neither page faults nor heap"));
  EXPECT_EQ(printed.out, "");
}

}  // namespace
}  // namespace pymemrun
