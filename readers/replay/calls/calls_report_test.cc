#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/call_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kOthersCount[] =
    "pymemreport: run.pb: growth is that of the whole process: what other "
    "threads did during a call counts, too; only page faults tell the threads "
    "apart\n";

TEST(PeaksReportTest, ALineForEachPeak) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"peaks", "--min", "299K"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out,
            "1: MainThread>/src/lib.py:45:d=>307200\n"
            "2: Thread-6>/src/main.py:35:c=>614400\n"
            "3: MainThread>/src/lib.py:45:d=>307200\n"
            "4: MainThread>/src/main.py:25:b=>768000\n"
            "5: MainThread>/src/main.py:15:a=>512000\n");
}

TEST(PeaksReportTest, PeaksAreThinnedByTimeAndValue) {
  CallRun run;
  const Printed printed =
      Busy(&run).Report({"peaks", "--min", "250K", "--min-time", "100",
                         "--min-value", "400K", "--strip-prefix", "/src/"});
  EXPECT_EQ(printed.out,
            "1: MainThread>lib.py:45:d=>307200\n"
            "2: MainThread>main.py:25:b=>768000\n");
}

TEST(PeaksReportTest, CsvAndJsonHaveTheCall) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"peaks", "--csv", "--limit", "1"});
  EXPECT_EQ(printed.out,
            "peak,clock_s,thread,file,line,function,growth_bytes,call_s,event,"
            "call_event,thread_growth_bytes,unix_s\r\n"
            "1,4.000000,MainThread#4711,/src/lib.py,45,d,307200,1.000000,4,3,"
            ",1700000004.000000\r\n");
}

TEST(PeaksReportTest, WithoutPeaksOneLineSaysSo) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"peaks", "--min", "1M"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err,
            "pymemreport: run.pb: no call changed RSS by more than 1.0 MiB\n");
}

TEST(PeaksReportTest, WhereNoCallIsKnownItSaysWhatToRecord) {
  for (const char* command : {"peaks", "flow"}) {
    Filters filters;
    filters.set_min_drss_bytes(4096);
    CallRun run(0, filters);
    const Printed printed = run.Return('a', 1000).Report({command});
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(
        printed.err,
        "pymemreport: run.pb: the run does not say which CALL each RETURN "
        "ended; record the run with pymemrun --min-call-drss 4096, or "
        "with --min-drss 0 for all calls\n");
    CallRun by_growth(100);
    EXPECT_EQ(by_growth.Return('a', 1000).Report({command}).err,
              "pymemreport: run.pb: the file has no call in which RSS changed "
              "by 100.0 KiB or more\n");
  }
}

// A switch of greenlets is no event: the second f's RETURN could be the
// first's.
TEST(PeaksReportTest, WithGreenletsRowsTellNothing) {
  CallRun run;
  run.builder().AddCode("/x/greenlet/__init__.py", "<module>", 1);
  const Printed printed =
      run.Call('a', 0).Call('a', 900).Return('a', 900).Return('a', 900).Report(
          {"peaks"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("the program has greenlets"));
}

TEST(CallPairingTest, MissingRowsMakeUnknownWhatHadBegun) {
  CallRun run;
  const Printed printed = run.Call('a', 0)
                              .Skip(1)
                              .Call('b', 0)
                              .Return('b', 1000)
                              .Return('a', 2000)
                              .Report({"peaks"});
  EXPECT_EQ(printed.out, "1: MainThread>/src/main.py:25:b=>1024000\n");
}

TEST(CallPairingTest, WhatWasNotTracedMakesUnknownWhatHadBegun) {
  for (const bool is_pause : {false, true}) {
    CallRun run;
    run.Call('a', 0);
    Record record;
    if (is_pause) {
      record.mutable_pause();
    } else {
      record.mutable_profiler_gap();
    }
    run.builder().AddRecord(record);
    const Printed printed =
        run.Call('b', 0).Return('b', 900).Return('a', 900).Report({"peaks"});
    EXPECT_EQ(printed.out, "1: MainThread>/src/main.py:25:b=>921600\n");
  }
}

// Its number is another one then.
TEST(CallPairingTest, ACallGoesOnWhenItsThreadIsRenamed) {
  CallRun run;
  run.Call('c', 0).Return('c', 900).Call('a', 900).Call('b', 900);
  run.builder().Flush();
  const uint32_t renamed =
      run.builder().AddThread("loader", 4711, CallRun::kMain);
  const Printed printed = run.Return('b', 1900, renamed)
                              .Return('a', 2900, renamed)
                              .Report({"peaks"});
  EXPECT_EQ(printed.out,
            "1: loader>/src/main.py:35:c=>921600\n"
            "2: loader>/src/main.py:25:b=>1024000\n"
            "3: loader>/src/main.py:15:a=>2048000\n");
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(run.Report({"calls", "--peak", "3"}).out,
            "a@/src/main.py:10-15, Time: 3.00 s, Memory: 2048000 B\n"
            " b@/src/main.py:20-25, Time: 1.00 s, Memory: 1024000 B\n");
}

TEST(CallPairingTest, AReturnOfOtherCodeIsNotBelieved) {
  CallRun run;
  const Printed printed = run.Call('a', 0)
                              .Call('b', 0)
                              .Return('a', 2000)
                              .Return('b', 2000)
                              .Call('c', 0)
                              .Return('c', 900)
                              .Report({"peaks"});
  EXPECT_EQ(printed.out, "1: MainThread>/src/main.py:35:c=>921600\n");
}

TEST(CallsReportTest, ACallAndThoseInIt) {
  CallRun run;
  const Printed printed =
      Busy(&run).Report({"calls", "--event", "9", "--strip-prefix", "/src/"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err, kOthersCount);
  EXPECT_EQ(printed.out,
            "a@main.py:10-15, Time: 9.00 s, Memory: 512000 B\n"
            " b@main.py:20-25, Time: 7.00 s, Memory: 768000 B\n"
            "  d@lib.py:40-45, Time: 1.00 s, Memory: 307200 B\n"
            "  d@lib.py:40-45, Time: 2.00 s, Memory: 307200 B\n");
}

TEST(CallsReportTest, APeakIsTheSameAsInPeaks) {
  CallRun run;
  const Printed printed =
      Busy(&run).Report({"calls", "--peak", "2", "--min", "299K"});
  EXPECT_EQ(printed.out,
            "c@/src/main.py:30-35, Time: 4.00 s, Memory: 614400 B\n");
  const Printed none = run.Report({"calls", "--peak", "9"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no peak 9, only 5 peaks"));
  EXPECT_EQ(run.Report({"calls"}).out, run.Report({"peaks"}).out);
}

TEST(CallsReportTest, WhereSomeWereLoggedItSaysWhatIsMissing) {
  CallRun run(100);
  const Printed printed = run.Skip(10)
                              .Ended('d', 2, 200)
                              .Skip(3)
                              .Ended('b', 9, 450)
                              .Ended('c', 12, 150, CallRun::kWorker)
                              .Ended('e', 1, 120)
                              .Ended('a', 17, 700)
                              .Report({"calls", "--event", "17"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.err,
            absl::StrCat("pymemreport: run.pb: not in the tree: calls in which "
                         "the process's RSS changed by less than 100.0 KiB; "
                         "--min-drss 0 logs all\n",
                         kOthersCount));
  EXPECT_EQ(printed.out,
            "a@/src/main.py:10-15, Time: 17.00 s, Memory: 716800 B\n"
            " b@/src/main.py:20-25, Time: 9.00 s, Memory: 460800 B\n"
            "  d@/src/lib.py:40-45, Time: 2.00 s, Memory: 204800 B\n"
            " e@/src/lib.py:50-55, Time: 1.00 s, Memory: 122880 B\n");
}

TEST(CallsReportTest, OtherFiltersAreToldToo) {
  Filters filters;
  filters.add_include("/src/*");
  CallRun run(100, filters);
  EXPECT_THAT(
      run.Skip(9).Ended('a', 2, 200).Report({"calls", "--event", "9"}).err,
      HasSubstr("100.0 KiB, or that --include left out; "));
}

TEST(CallsReportTest, AnEventThatEndedNoCallIsRefused) {
  CallRun run;
  run.Return('a', 1000).Call('b', 1000).Return('b', 1000);
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"0", "the CALL of event 0 is not known"},
      {"1", "expected a RETURN as event 1, found CALL"},
      {"7", "event 7 is not in the file"}};
  for (const auto& [event, why] : refused) {
    const Printed printed = run.Report({"calls", "--event", event});
    EXPECT_EQ(printed.code, 2) << event;
    EXPECT_EQ(printed.out, "");
    EXPECT_EQ(printed.err, absl::StrCat("pymemreport: run.pb: ", why, "\n"));
  }
  EXPECT_EQ(run.Report({"calls", "--event", "2", "--peak", "1"}).code, 2);
}

TEST(CallsReportTest, TheRestIsCounted) {
  CallRun run;
  const Printed printed =
      Busy(&run).Report({"calls", "--event", "9", "--limit", "2", "--json"});
  EXPECT_THAT(printed.err, EndsWith("2 more calls not shown (--limit)\n"));
  EXPECT_THAT(printed.out, HasSubstr("\"level\": 1"));
  EXPECT_THAT(printed.out, ::testing::Not(HasSubstr("\"level\": 2")));
}

TEST(CallsReportTest, DeepCallsStandBelowEachOther) {
  CallRun run;
  for (int i = 0; i < 400; ++i) run.Call('a', i);
  for (int i = 0; i < 400; ++i) run.Return('a', 400);
  const Printed printed = run.Report({"calls", "--event", "799"});
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  ASSERT_EQ(lines.size(), 401u);
  EXPECT_EQ(lines[200].find('a'), 200u);
  EXPECT_EQ(lines[399].find('a'), 256u);
}

constexpr char kFlowColumns[] =
    "file,line,function,growth_bytes,own_bytes,calls,call_s,"
    "thread_growth_bytes,thread_own_bytes\r\n";

TEST(FlowReportTest, InclusiveAndOwnGrowthOfEachFunction) {
  CallRun run;
  const Printed printed = Busy(&run).Report({"flow", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out,
            std::string(kFlowColumns) +
                "/src/main.py,20,b,768000,153600,1,7.000000,,\r\n"
                "/src/lib.py,40,d,614400,614400,2,3.000000,,\r\n"
                "/src/main.py,30,c,614400,614400,1,4.000000,,\r\n"
                "/src/main.py,10,a,512000,-256000,1,9.000000,,\r\n");
}

// b's own thread added 30 of its 100 pages, 20 of them in the call of a.
CallRun& WithPages(CallRun* run) {
  run->Call('b', 0).Call('a', 0).Return('a', 200).Return('b', 400);
  run->builder().AddMapping("/usr/bin/python3.11");
  run->builder().AddPages(CamePages(1000010, 100, 20, 0));
  run->builder().AddPages(CamePages(1500000, 200, 70, 0, CallRun::kWorker));
  run->builder().AddPages(CamePages(2000010, 300, 10, 0));
  return *run;
}

// 20 pages are too little for a peak.
TEST(CallsReportTest, WhereFaultsWereRecordedGrowthIsTheThreadsOwn) {
  CallRun run(0, {}, true);
  const Printed peaks = WithPages(&run).Report({"peaks", "--min", "100K"});
  EXPECT_EQ(peaks.out, "1: MainThread>/src/main.py:25:b=>122880\n");
  EXPECT_EQ(peaks.err, "");
  EXPECT_EQ(run.Report({"calls", "--event", "3"}).out,
            "b@/src/main.py:20-25, Time: 3.00 s, Memory: 122880 B\n"
            " a@/src/main.py:10-15, Time: 1.00 s, Memory: 81920 B\n");
  EXPECT_EQ(run.Report({"calls", "--peak", "1", "--min", "100K"}).out,
            run.Report({"calls", "--event", "3"}).out);
  const std::string flow = run.Report({"flow"}).out;
  EXPECT_THAT(flow, ::testing::ContainsRegex("120.0 KiB +40.0 KiB +1 .*b\n"));
  EXPECT_THAT(flow, ::testing::ContainsRegex("80.0 KiB +80.0 KiB +1 .*a\n"));
}

TEST(CallsReportTest, ObservedIsTheProcesssGrowth) {
  CallRun run(0, {}, true);
  const Printed peaks = WithPages(&run).Report(
      {"peaks", "--min", "100K", "--thread-attribution", "observed"});
  EXPECT_EQ(peaks.out,
            "1: MainThread>/src/main.py:15:a=>204800\n"
            "2: MainThread>/src/main.py:25:b=>409600\n");
  EXPECT_EQ(
      run.Report({"calls", "--event", "3", "--thread-attribution", "observed"})
          .out,
      "b@/src/main.py:20-25, Time: 3.00 s, Memory: 409600 B\n"
      " a@/src/main.py:10-15, Time: 1.00 s, Memory: 204800 B\n");
  EXPECT_THAT(run.Report({"flow", "--thread-attribution", "observed"}).out,
              HasSubstr("400.0 KiB"));
}

TEST(CallsReportTest, TablesHaveBoth) {
  CallRun run(0, {}, true);
  const Printed peaks =
      WithPages(&run).Report({"peaks", "--min", "100K", "--csv"});
  EXPECT_THAT(
      CsvLines(peaks),
      ElementsAre(StartsWith("peak,"),
                  EndsWith(",409600,3.000000,3,0,122880,1700000003.000000")));
  const Printed calls = run.Report({"calls", "--event", "3", "--csv"});
  EXPECT_THAT(CsvLines(calls),
              ElementsAre(StartsWith("level,"),
                          EndsWith(",409600,3,0,122880,1700000003.000000"),
                          EndsWith(",204800,2,1,81920,1700000002.000000")));
  EXPECT_EQ(run.Report({"flow", "--csv"}).out,
            std::string(kFlowColumns) +
                "/src/main.py,20,b,409600,204800,1,3.000000,122880,40960\r\n"
                "/src/main.py,10,a,204800,204800,1,1.000000,81920,81920\r\n");
}

// RETURNs alone are nested when all is read.
TEST(FlowReportTest, WhereReturnsTellTheThreadsGrowthIsNested) {
  CallRun run(1, {}, true);
  run.Skip(2).Ended('a', 1, 200).Ended('b', 3, 400);
  run.builder().AddMapping("/usr/bin/python3.11");
  run.builder().AddPages(CamePages(1500000, 100, 20, 0));
  run.builder().AddPages(CamePages(1600000, 200, 70, 0, CallRun::kWorker));
  run.builder().AddPages(CamePages(2500000, 300, 10, 0));
  const std::string flow = run.Report({"flow"}).out;
  EXPECT_THAT(flow, ::testing::ContainsRegex("120.0 KiB +40.0 KiB +1 .*b\n"))
      << flow;
}

// RSS grew by more during b.
TEST(FlowReportTest, WhoGrewMostByItselfIsFirst) {
  CallRun run(0, {}, true);
  run.Call('b', 0).Call('a', 0, CallRun::kWorker);
  run.Return('a', 400, CallRun::kWorker).Return('b', 800);
  run.builder().AddMapping("/usr/bin/python3.11");
  run.builder().AddPages(CamePages(1500000, 100, 150, 0, CallRun::kWorker));
  run.builder().AddPages(CamePages(1600000, 300, 10, 0));
  const Printed caused = run.Report({"flow"});
  EXPECT_LT(caused.out.find("a\n"), caused.out.find("b\n")) << caused.out;
  EXPECT_EQ(caused.err, "");
  const Printed observed =
      run.Report({"flow", "--thread-attribution", "observed"});
  EXPECT_LT(observed.out.find("b\n"), observed.out.find("a\n"));
  EXPECT_EQ(observed.err,
            "pymemreport: run.pb: growth is that of the whole process: what "
            "other threads did during a call counts, too\n");
}

TEST(CallsReportTest, WithoutFaultsItSaysThatOthersCount) {
  CallRun run;
  Busy(&run);
  for (const char* command : {"peaks", "flow"}) {
    EXPECT_EQ(run.Report({command}).err, kOthersCount);
    const Printed caused =
        run.Report({command, "--thread-attribution", "caused"});
    EXPECT_EQ(caused.code, 2);
    EXPECT_THAT(caused.err, HasSubstr("has no page faults: record them"));
  }
}

TEST(FlowReportTest, InARecursionTheOutermostCallCounts) {
  CallRun all;
  const Printed printed = all.Call('a', 0)
                              .Call('b', 0)
                              .Call('a', 100)
                              .Return('a', 300)
                              .Return('b', 300)
                              .Return('a', 400)
                              .Report({"flow", "--csv"});
  const std::string rows =
      "/src/main.py,10,a,409600,307200,2,5.000000,,\r\n"
      "/src/main.py,20,b,307200,102400,1,3.000000,,\r\n";
  EXPECT_EQ(printed.out, kFlowColumns + rows);
  CallRun some(1);
  const Printed same = some.Skip(3)
                           .Ended('a', 1, 200)
                           .Ended('b', 3, 300)
                           .Ended('a', 5, 400)
                           .Report({"flow", "--csv"});
  EXPECT_EQ(same.out, kFlowColumns + rows);
  EXPECT_EQ(
      same.err,
      "pymemreport: run.pb: not counted: calls in which the process's RSS "
      "changed by less than 1.0 KiB\n");
}

}  // namespace
}  // namespace pymemrun
