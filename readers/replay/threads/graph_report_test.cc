#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/call_run_for_tests.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Printed Graph(const std::string& run, std::vector<std::string> options = {}) {
  TempFile file(run);
  options.insert(options.begin(), {"graph", file.path()});
  return Report(options);
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(GraphReportTest, EachThreadHasALineAndSoHasTheProcess) {
  const Printed printed = Graph(PageEventsRun().Build());
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(Count(printed.out, "<path class=\"line\""), 3u);
  EXPECT_THAT(printed.out, HasSubstr(">Memory by thread of job.py<"));
  EXPECT_THAT(printed.out, HasSubstr("threads: pages that each thread added"));
  EXPECT_THAT(printed.out, HasSubstr(">process: RSS minus 80.0 KiB<"));
  EXPECT_THAT(printed.out, HasSubstr(">MainThread#4711<"));
  EXPECT_THAT(printed.out, HasSubstr(">peak 200.0 KiB, end 40.0 KiB<"));
  EXPECT_THAT(printed.out, HasSubstr(">worker#4712<"));
}

// The first thread has its 50th page at 50.49 ms, between two moments.
TEST(GraphReportTest, PeaksAreNumberedByTimeAndSayWhere) {
  const Printed printed = Graph(PageEventsRun().Build());
  const size_t first = printed.out.find(">MainThread#4711 &gt; job.py:5 load<");
  const size_t second = printed.out.find(">worker#4712 &gt; job.py:6 load<");
  ASSERT_NE(first, std::string::npos) << printed.out;
  EXPECT_LT(first, second);
  EXPECT_NE(second, std::string::npos);
  EXPECT_THAT(printed.out, HasSubstr(">200.0 KiB at 0.050 s<"));
  EXPECT_THAT(printed.out, HasSubstr(">120.0 KiB at 0.150 s<"));
  // Of the process as the legend has it, without 80 KiB.
  EXPECT_THAT(printed.out, HasSubstr(">peak 320.0 KiB, end "));
  EXPECT_THAT(printed.out, HasSubstr(">320.0 KiB at 0.150 s<"));
  EXPECT_THAT(printed.out, Not(HasSubstr(">process<")));
  EXPECT_EQ(Count(printed.out, "class=\"peak\""), 3u);
}

TEST(GraphReportTest, WhereCallsAreKnownNumbersAreThoseOfPeaks) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"graph"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("numbers: calls, as in"));
  EXPECT_THAT(printed.out, HasSubstr("what other threads did"));
  const std::vector<std::string> peaks =
      absl::StrSplit(run.Report({"peaks"}).out, '\n', absl::SkipEmpty());
  EXPECT_EQ(Count(printed.out, "class=\"peak\""), peaks.size());
  EXPECT_EQ(peaks[1], "2: Thread-6>/src/main.py:35:c=>614400");
  EXPECT_THAT(printed.out, ::testing::ContainsRegex(
                               ">2</text>\n.*>Thread-6 &gt; main.py:35 "
                               "c</text>\n.*>\\+600.0 KiB at 6.000 s<"));
}

// c's own thread added 80 of its 600 KiB.
TEST(GraphReportTest, APeakIsWhatItsThreadDid) {
  CallRun run(0, {}, true);
  Busy(&run);
  run.builder().AddMapping("/usr/bin/python3.11");
  run.builder().AddPages(CamePages(2500000, 100, 20, 0, CallRun::kWorker));
  run.builder().AddPages(CamePages(3500000, 200, 130, 0));
  const Printed caused = run.Report({"graph", "--min", "50K"});
  EXPECT_THAT(caused.out,
              ::testing::ContainsRegex(
                  ">Thread-6 &gt; main.py:35 c</text>\n.*>\\+80.0 KiB"));
  EXPECT_THAT(caused.out, HasSubstr("threads: pages that each thread added"));
  EXPECT_THAT(caused.out, Not(HasSubstr("what other threads did")));
  const Printed observed =
      run.Report({"graph", "--min", "50K", "--thread-attribution", "observed"});
  EXPECT_THAT(observed.out,
              ::testing::ContainsRegex(
                  ">Thread-6 &gt; main.py:35 c</text>\n.*>\\+600.0 KiB"));
  EXPECT_THAT(observed.out, HasSubstr("changes of RSS at each"));
}

TEST(GraphReportTest, NumbersStayWhereFewerAreShown) {
  CallRun run;
  const Printed late = Busy(&run).Report({"graph", "--from", "6.5"});
  EXPECT_THAT(late.out, Not(HasSubstr(">2</text>")));
  EXPECT_THAT(late.out, HasSubstr(">4</text>"));
  const Printed large = run.Report({"graph", "--min", "700K"});
  EXPECT_EQ(Count(large.out, "class=\"peak\""), 1u);
  EXPECT_THAT(large.out, HasSubstr(">MainThread &gt; main.py:25 b<"));
}

TEST(GraphReportTest, OfManyPeaksTheLargestOfEachTimeAreShown) {
  CallRun run;
  for (int i = 0; i < 100; ++i) {
    run.Call('a', 0).Return('a', i == 50 ? 2000 : 1000);
  }
  const Printed printed = run.Report({"graph", "--min-time", "0"});
  EXPECT_EQ(Count(printed.out, "class=\"peak\""), 24u);
  EXPECT_EQ(Count(printed.out, ">51</text>"), 2u);
}

// The thread goes up and down by 400 KiB, and twice by less than 200 KiB.
TEST(GraphReportTest, WithoutCallsAllHighPointsOfALineAreNumbered) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddMapping("");
  uint64_t time_us = 0, rss_bytes = 80 << 10;
  builder.AddProcess(1, rss_bytes, rss_bytes);
  for (const uint64_t pages : {100, 40, 101, 102, 100}) {
    const uint64_t bytes = pages * 4096;
    builder.AddPages(CamePages(time_us += 100000, 100, pages, 1));
    builder.AddProcess(time_us + 5000, rss_bytes + bytes, rss_bytes + bytes);
    builder.AddPages(
        {RangeEntry(time_us += 50000, PAGES_UNMAPPED, 100, pages)});
    builder.AddProcess(time_us + 5000, rss_bytes, rss_bytes);
  }
  builder.Flush();
  const std::string run = sink.contents();
  const Printed usual = Graph(run);
  EXPECT_EQ(usual.code, 0) << usual.err;
  // Peaks of the thread and of the process.
  EXPECT_EQ(Count(usual.out, "class=\"peak\""), 8u);
  EXPECT_THAT(usual.out, HasSubstr(">404.0 KiB at 0.4"));
  EXPECT_THAT(usual.out, HasSubstr(">8</text>"));
  EXPECT_EQ(Count(Graph(run, {"--min", "100K"}).out, "class=\"peak\""), 10u);
  EXPECT_EQ(Count(Graph(run, {"--min", "1M"}).out, "class=\"peak\""), 2u);
  const Printed few = Graph(run, {"--peaks", "3"});
  EXPECT_EQ(Count(few.out, "class=\"peak\""), 3u);
  EXPECT_THAT(few.out, Not(HasSubstr(">4</text>")));
}

TEST(GraphReportTest, CsvHasPlainBytesAtEachMoment) {
  const Printed printed =
      Graph(PageEventsRun().Build(), {"--csv", "--to", "0.3"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const std::vector<std::string> lines = CsvLines(printed);
  EXPECT_EQ(lines[0],
            "time_s,rss_bytes,MainThread#4711,worker#4712,other threads");
  EXPECT_EQ(lines.back(), "0.300000,409600,204800,122880,0");
}

TEST(GraphReportTest, WhatIsLessThanTheLargestIsSummedUp) {
  const Printed printed = Graph(PageEventsRun().Build(), {"--top", "1"});
  EXPECT_EQ(Count(printed.out, "<path class=\"line\""), 3u);
  EXPECT_THAT(printed.out, HasSubstr(">1 other thread, together<"));
  EXPECT_THAT(printed.out, Not(HasSubstr(">worker#4712<")));
  const Printed csv = Graph(PageEventsRun().Build(), {"--top", "1", "--csv"});
  EXPECT_EQ(CsvLines(csv).back(), "0.600000,249856,40960,122880");
}

TEST(GraphReportTest, RebaseIsAsTheUserSays) {
  const std::string run = PageEventsRun().Build();
  EXPECT_THAT(Graph(run, {"--rebase", "0"}).out, HasSubstr(">process: RSS<"));
  EXPECT_THAT(Graph(run, {"--rebase", "16K"}).out,
              HasSubstr(">process: RSS minus 16.0 KiB<"));
  EXPECT_EQ(Graph(run, {"--rebase", "auto"}).out, Graph(run).out);
  const Printed wrong = Graph(run, {"--rebase", "much"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("expected auto or a size such as 30M"));
}

// A thread may release another thread's memory: it is below 0 then.
TEST(GraphReportTest, LinesMayBeBelowZero) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddThread("worker", 2);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(1000, 100, 10, 1, 2));
  builder.AddPages({RangeEntry(5000, PAGES_UNMAPPED, 100, 8)});
  builder.AddProcess(6000, 2 * 4096, 10 * 4096);
  builder.Flush();
  const Printed printed = Graph(sink.contents(), {});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr(">-40 KiB<"));
  EXPECT_THAT(printed.out, HasSubstr(", end -32.0 KiB<"));
}

TEST(GraphReportTest, WithoutPageEventsLinesAreTheLiveHeap) {
  const Printed printed = Graph(HeapRun().Build());
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("threads: live heap that each"));
}

// Each of four blocks of 64 KiB stands for four.
TEST(GraphReportTest, TheHeapOfSamplesHasAnError) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_heap(HEAP_SAMPLED);
  builder.AddHeader(header);
  Record record;
  HeapClass* const rate = record.mutable_heap_rates()->add_classes();
  rate->set_below_bytes(1 << 20);
  rate->set_probability(0.25);
  builder.AddRecord(record);
  builder.AddThread("MainThread", 1);
  const uint32_t stack =
      builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddHeap(AllocEvents(1000, 1 << 20, 4, 1 << 16, stack));
  builder.AddProcess(5000, 2 << 20, 2 << 20);
  builder.Flush();
  // 64 KiB times the root of 4 (1 - 1/4) / (1/4)^2.
  EXPECT_THAT(Graph(sink.contents()).out,
              HasSubstr(">peak 1.0 MiB \u00b1443.4 KiB, end 1.0 MiB "
                        "\u00b1443.4 KiB<"));
  const Printed csv = Graph(sink.contents(), {"--csv"});
  EXPECT_THAT(CsvLines(csv)[0], HasSubstr(",other threads,MainThread#1 "
                                          "error_bytes"));
  EXPECT_THAT(CsvLines(csv).back(), HasSubstr(",1048576,0,454046"));
}

TEST(GraphReportTest, WithEventsOfCallsAloneTheyAreWhatThoseSaw) {
  const Printed printed = Graph(SmallRun().Build(), {"--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(CsvLines(printed)[0],
            "time_s,rss_bytes,MainThread#4711,worker#4712,other threads");
  EXPECT_THAT(CsvLines(printed).back(), HasSubstr(",5242880,-1048576,0"));
  EXPECT_THAT(Graph(SmallRun().Build()).out,
              HasSubstr("changes of RSS at each"));
}

TEST(GraphReportTest, ARunThatTellsNoThreadIsRefused) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddProcess(100, 4096, 4096);
  builder.Flush();
  const Printed printed = Graph(sink.contents());
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr("which thread took memory is unknown"));
}

TEST(GraphReportTest, BoundsOutsideTheRunAreRefused) {
  const std::string run = PageEventsRun().Build();
  const Printed late = Graph(run, {"--from", "10"});
  EXPECT_EQ(late.code, 2);
  EXPECT_THAT(late.err, HasSubstr("--from: 10.000 s is not before the run's "
                                  "end, "));
  const Printed turned = Graph(run, {"--from", "0.3", "--to", "0.2"});
  EXPECT_EQ(turned.code, 2);
  EXPECT_THAT(turned.err,
              HasSubstr("--to: expected a moment after --from, found '"));
}

TEST(GraphReportTest, ThatNoCallIsChosenIsSaid) {
  CallRun run;
  EXPECT_THAT(Busy(&run).Report({"graph", "--file", "other.py"}).err,
              HasSubstr(": --file 'other.py' leaves no call that changed RSS "
                        "by more than "));
  EXPECT_THAT(
      Graph(PageEventsRun().Build(), {"--file", "job.py"}).err,
      HasSubstr(": --file 'job.py' leaves no call: the run has none\n"));
}

TEST(GraphReportTest, ItIsATimelineByItsOldName) {
  TempFile file(PageEventsRun().Build());
  for (const char* const format : {"--svg", "--csv", "--json"}) {
    EXPECT_EQ(Report({"timeline", file.path(), "--of", "threads", format}).out,
              Report({"graph", file.path(), format}).out);
  }
  const Printed wrong = Report({"graph", file.path(), "--by", "line"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--by line needs --of rss or heap"));
}

TEST(GraphReportTest, NamesAreEscaped) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder);
  builder.AddThread("<b>&\x1b[31m", 2);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(1000, 100, 10, 1, 2));
  builder.Flush();
  const Printed printed = Graph(sink.contents());
  EXPECT_THAT(printed.out, HasSubstr("&lt;b&gt;&amp;\\x1b[31m#2"));
  EXPECT_THAT(printed.out, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace pymemrun
