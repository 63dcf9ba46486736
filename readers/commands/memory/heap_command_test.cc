#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/report/pymemreport.h"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Heap(const HeapRun& run, std::vector<std::string> options,
                 const std::string& command = "heap") {
  TempFile file(run.Build());
  options.insert(options.begin(), {command, file.path()});
  const Printed printed = Report(options);
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.err, "");
  return printed.out;
}

constexpr char kLineColumns[] =
    "file,line,function,live_bytes,live_count,share\r\n";

TEST(HeapReportTest, LinesAtThePeak) {
  EXPECT_EQ(Heap({}, {"--csv"}),
            std::string(kLineColumns) +
                "/job.py,6,load,5000,5,0.816993\r\n"
                "/job.py,5,load,1000,10,0.163399\r\n"
                "<frozen importlib._bootstrap>,101,_find,70,1,0.011438\r\n"
                ",,<interpreter>,50,1,0.008170\r\n"
                "<tracing itself>,,,400,1,\r\n");
}

TEST(HeapReportTest, LinesAtOtherMoments) {
  EXPECT_EQ(Heap({}, {"--csv", "--at", "exit", "--limit", "1"}),
            std::string(kLineColumns) +
                "/job.py,5,load,1000,10,0.471698\r\n"
                "<other places>,,,1120,3,0.528302\r\n"
                "<tracing itself>,,,400,1,\r\n");
  EXPECT_EQ(Heap({}, {"--csv", "--at", "0.001003"}),
            std::string(kLineColumns) + "/job.py,5,load,400,4,1.000000\r\n");
  EXPECT_EQ(Heap({}, {"--csv", "--at", "0.0001"}), kLineColumns);
}

TEST(HeapReportTest, OtherKindsOfPlaces) {
  EXPECT_THAT(Heap({}, {"--csv", "--by", "thread"}),
              StartsWith("thread,live_bytes,live_count,share\r\n"
                         "worker#4712,5000,5,0.816993\r\n"
                         "MainThread#4711,1120,12,"));
  EXPECT_THAT(Heap({}, {"--csv", "--by", "allocator"}),
              StartsWith("allocator,live_bytes,live_count,share\r\n"
                         "mem,5000,5,0.816993\r\n"
                         "obj,1120,12,"));
  EXPECT_THAT(Heap({}, {"--csv", "--by", "function"}),
              HasSubstr("\r\n/job.py,3,load,6000,15,"));
  EXPECT_THAT(Heap({}, {"--csv", "--by", "file"}),
              HasSubstr("\r\n/job.py,6000,15,"));
  EXPECT_THAT(Heap({}, {"--csv", "--by", "module"}),
              HasSubstr("\r\n<python>,6120,17,"));
}

TEST(HeapReportTest, TextSaysWhatTheNumbersAre) {
  EXPECT_THAT(
      Heap({}, {}),
      StartsWith("live 6.0 KiB in 17 blocks at the peak of live bytes (RSS was "
                 "not read), 0.003 s\n"
                 "bytes are what lines asked for, resident or not\n"
                 "allocated 6.0 KiB in 20 blocks, freed 4.0 KiB in 7 blocks by "
                 "0.010 s\n"
                 "frees of earlier blocks: 1\n"));
  EXPECT_THAT(Heap({}, {"--at", "exit"}),
              StartsWith("live 2.1 KiB in 13 blocks at exit, 0.010 s\n"
                         "most live bytes: 6.0 KiB at 0.003 s (--at "
                         "heap-peak)\n"));
}

TEST(HeapReportTest, SampledRunsHaveErrors) {
  HeapRun run;
  run.mode = HEAP_SAMPLED;
  run.mean_bytes = 1000;
  const auto rows = nlohmann::json::parse(Heap(run, {"--json"}));
  // p = 1 - exp(-1) and 1 - exp(-0.1)
  EXPECT_EQ(rows[0]["line"], 5);
  EXPECT_EQ(rows[0]["live_bytes"], 10508);
  EXPECT_EQ(rows[0]["live_count"], 105);
  EXPECT_EQ(rows[0]["error_bytes"], 3161);
  EXPECT_EQ(rows[0]["error_count"], 32);
  EXPECT_EQ(rows[1]["live_bytes"], 7910);
  EXPECT_EQ(rows[1]["error_bytes"], 2146);
  const std::string text = Heap(run, {});
  EXPECT_THAT(text, HasSubstr(" (standard error "));
  EXPECT_THAT(text, HasSubstr("\nestimated: one sample in 1000 bytes on "
                              "average; 20 blocks recorded\n"));
}

TEST(HeapReportTest, LeaksAreWhatTheProgramKeeps) {
  EXPECT_EQ(Heap({}, {"--csv", "--leaks"}),
            std::string(kLineColumns) +
                "/job.py,5,load,1000,10,0.500000\r\n"
                "/job.py,6,load,1000,1,0.500000\r\n");
  EXPECT_THAT(
      Heap({}, {"--leaks"}),
      StartsWith("alive at the program's end: 2.0 KiB in 11 blocks, "
                 "without what the interpreter keeps for itself\n"
                 "live 2.1 KiB in 13 blocks at the program's end, 0.006 s\n"));
}

TEST(HeapReportTest, WhatTheInterpretersEndFreesIsAliveWhenTheProgramEnded) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginHeapRun(&builder);
  const uint32_t begin =
      builder.AddStack(0, builder.AddCode("/job.py", "<module>", 1), 7);
  const uint32_t at_exit =
      builder.AddStack(0, builder.AddCode("/job.py", "close", 3), 4);
  const uint32_t thread = builder.AddStack(
      0, builder.AddCode("/usr/lib/python3.11/threading.py", "_bootstrap", 9),
      10);
  builder.AddHeap({AllocEvent(1, 16, 100, begin), AllocEvent(2, 32, 10, begin),
                   AllocEvent(3, 48, 5, thread), FreeEvent(4, 32),
                   AllocEvent(4, 64, 1, thread),  // the program's last
                   AllocEvent(6, 80, 3, at_exit), FreeEvent(7, 16)});
  builder.Flush();
  TempFile file(sink.contents());
  const Printed printed = Report({"heap", file.path(), "--leaks", "--csv"});
  EXPECT_EQ(printed.out, std::string(kLineColumns) +
                             "/job.py,7,<module>,100,1,0.943396\r\n"
                             "/usr/lib/python3.11/threading.py,10,_bootstrap,6,"
                             "2,0.056604\r\n");
}

TEST(HeapReportTest, TemporaryBlocksAreFreedBeforeTheNextAllocations) {
  EXPECT_EQ(Heap({}, {"--temporary", "--csv"}),
            "file,line,function,temporary_bytes,temporary_count,share\r\n"
            "/job.py,5,load,48,3,1.000000\r\n");
  // The blocks of line 6, freed by another thread, are its thread's last.
  EXPECT_THAT(Heap({}, {"--temporary", "2", "--csv"}),
              HasSubstr("\r\n/job.py,6,load,1000,1,"));
  EXPECT_THAT(Heap({}, {"--temporary=5", "--csv"}),
              HasSubstr("\r\n/job.py,6,load,4000,4,"));
  TempFile sampled(HeapRun{HEAP_SAMPLED, 1000}.Build());
  const Printed printed = Report({"heap", sampled.path(), "--temporary"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("has no record of every allocation: "
                                     "record it with pymemrun --heap all\n"));
}

TEST(HeapReportTest, ChangeBetweenTwoMoments) {
  EXPECT_EQ(
      Heap({}, {"--csv", "--at", "0.0015", "--to", "exit", "--limit", "2"}),
      "file,line,function,change_bytes,change_count,before_bytes,"
      "after_bytes\r\n"
      "/job.py,6,load,1000,1,0,1000\r\n"
      "<frozen importlib._bootstrap>,101,_find,70,1,0,70\r\n"
      "<other places>,,,50,1,1000,1050\r\n"
      "<tracing itself>,,,400,1,0,400\r\n");
  EXPECT_THAT(Heap({}, {"--csv", "--at", "peak", "--to", "exit"}),
              HasSubstr("\r\n/job.py,6,load,-4000,-4,5000,1000\r\n"));
  EXPECT_THAT(
      Heap({}, {"--at", "heap-peak", "--to", "exit"}),
      StartsWith("before: live 6.0 KiB in 17 blocks at the peak of live "
                 "bytes, 0.003 s\n"
                 "after: live 2.1 KiB in 13 blocks at exit, 0.010 s\n"));
}

TEST(HeapReportTest, DifferenceOfTwoRuns) {
  HeapRun other;
  other.line_six_blocks = 8;
  TempFile second(other.Build());
  EXPECT_EQ(Heap({}, {"--csv", "--diff", second.path(), "--limit", "1"}),
            "file,line,function,change_bytes,change_count,before_bytes,"
            "after_bytes\r\n"
            "/job.py,6,load,3000,3,5000,8000\r\n"
            "<other places>,,,0,0,1120,1120\r\n"
            "<tracing itself>,,,0,0,400,400\r\n");
  TempFile first(HeapRun().Build());
  const Printed missing =
      Report({"heap", first.path(), "--diff", "/nonexistent"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.out, "");
}

TEST(HeapReportTest, Stacks) {
  EXPECT_EQ(Heap({}, {"--collapsed"}),
            "<module> (/job.py:9);load (/job.py:6) 5000\n"
            "<module> (/job.py:9);load (/job.py:5) 1000\n"
            "_find (<frozen importlib._bootstrap>:101) 70\n"
            "<interpreter> 50\n");
  EXPECT_THAT(Heap({}, {"--stacks", "--csv", "--limit", "2"}),
              StartsWith("depth,file,line,function,live_bytes,self_bytes,"
                         "live_count,share\r\n"
                         "0,/job.py,9,<module>,6000,0,15,0.980392\r\n"
                         "1,/job.py,6,load,5000,5000,5,0.816993\r\n"));
  EXPECT_THAT(Heap({}, {"--collapsed", "--by", "thread"}),
              HasSubstr("worker#4712;<module> (/job.py:9);load (/job.py:6) "
                        "5000\n"));
  EXPECT_EQ(Heap({}, {"--collapsed", "--leaks"}),
            "<module> (/job.py:9);load (/job.py:5) 1000\n"
            "<module> (/job.py:9);load (/job.py:6) 1000\n");
}

TEST(HeapReportTest, Snapshot) {
  EXPECT_EQ(Heap({}, {"--at", "0.001", "--collapsed"}, "snapshot"),
            "<module> (/job.py:9);load (/job.py:5) 100\n");
  const auto stacks = nlohmann::json::parse(Heap({}, {"--json"}, "snapshot"));
  ASSERT_EQ(stacks.size(), 4u);
  EXPECT_EQ(stacks[0]["live_bytes"], 5000);
  EXPECT_EQ(stacks[0]["thread"], "worker#4712");
  EXPECT_EQ(stacks[0]["allocator"], "mem");
  ASSERT_EQ(stacks[0]["stack"].size(), 2u);
  EXPECT_EQ(stacks[0]["stack"][0]["function"], "<module>");
  EXPECT_EQ(stacks[0]["stack"][1]["line"], 6);
  EXPECT_THAT(Heap({}, {}, "snapshot"),
              HasSubstr("\n   5.9 KiB     0 bytes      15  98.0 %  <module> "));
}

TEST(HeapReportTest, Stats) {
  EXPECT_EQ(Heap({}, {}, "stats"),
            "-------------------------------------------\n"
            "HEAP USAGE SUMMARY\n"
            "      Size Count Bytes\n"
            "    1 - 16     3    48\n"
            "   17 - 64     1    50\n"
            "  65 - 128    11  1070\n"
            "129 - 1024     5  5000\n"
            "All of these can be recorded: --heap all\n");
  EXPECT_THAT(Heap({}, {"--csv"}, "stats"),
              StartsWith("size_from,size_to,count,total_bytes\r\n"
                         "1,16,3,48\r\n"));
}

TEST(HeapReportTest, WithoutHeapEvents) {
  HeapRun run;
  run.mode = HEAP_OFF;
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  Record record;
  record.mutable_footer()->set_end_us(5);
  builder.AddRecord(record);
  builder.Flush();
  TempFile file(sink.contents());
  for (const char* command : {"heap", "history", "snapshot", "stats"}) {
    const Printed printed = Report({command, file.path()});
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(printed.out, "");
    EXPECT_EQ(printed.err, "pymemreport: " + file.path() +
                               ": has no heap events: record them with "
                               "pymemrun --heap sampled or all\n");
  }
}

TEST(HeapReportTest, ATornFileIsReadUpToThere) {
  HeapRun run;
  run.with_footer = false;
  const std::string whole = run.Build();
  TempFile file(whole);
  const Printed printed = Report({"heap", file.path(), "--csv"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr(": no footer: "));
  EXPECT_THAT(printed.out, HasSubstr("/job.py,6,load,5000,5,"));
}

TEST(HeapReportTest, HostileNamesAreEscaped) {
  HeapRun run;
  run.load = "a\x1b[31m;b\n=c";
  EXPECT_THAT(Heap(run, {}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Heap(run, {"--collapsed"}), HasSubstr("a\\x1b[31m\\x3bb\\x0a=c"));
}

struct Wrong {
  std::vector<std::string> options;
  std::string said;
};

TEST(HeapReportTest, WrongOptionsAreRefused) {
  TempFile file(HeapRun().Build());
  const std::vector<Wrong> wrong = {
      {{"heap", "--at", "200%"},
       "--at: expected a share from 0% to 100%, found '200%'"},
      {{"heap", "--by", "stack"},
       "--by: expected line, library-line, function, file, thread, task, "
       "allocator, module or package, found 'stack'"},
      {{"heap", "--temporary", "-1"},
       "--temporary: expected a number from 1 on, found '-1'"},
      {{"heap", "--at", "1", "--at", "2"}, "--at: is given more than once"},
      {{"heap", "--leaks", "--temporary"},
       "--leaks does not go with --temporary"},
      {{"heap", "--leaks", "--at", "1"}, "--at 1 does not go with --leaks"},
      {{"heap", "--temporary", "0"},
       "--temporary: expected a number from 1 on, found '0'"},
      {{"heap", "--collapsed", "--csv"}, "--csv does not go with --collapsed"},
      {{"heap", "--stacks", "--to", "exit"},
       "--to exit does not go with --stacks"},
      {{"history", "--interval", "soon"},
       "--interval: expected a time such as 60s or 500ms, found 'soon'"},
      {{"history", "--interval", "0s"},
       "--interval: expected a time such as 60s or 500ms, found '0s'"},
      {{"history", "--top", "25"},
       "--top: expected a number from 1 to 24, found '25'"},
      {{"history", "--limit", "3"}, "--limit 3 needs --gc"},
      {{"timeline", "--limit", "3"}, "--limit 3 needs --gc"},
      {{"history", "--from", "2", "--to", "1"},
       "--to: expected a moment after --from, found '1'"},
      {{"heap", "--color"}, "--color: expected a value, found none"},
      {{"history", "--svg", "--csv"}, "--svg does not go with --csv"},
  };
  for (const Wrong& each : wrong) {
    std::vector<std::string> options = each.options;
    options.insert(options.begin() + 1, file.path());
    const Printed printed = Report(options);
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(printed.err,
              "pymemreport: " + each.said + " (see pymemreport --help)\n");
  }
}

TEST(HeapReportTest, OtherThreadsAreOneRow) {
  EXPECT_EQ(Heap({}, {"--csv", "--thread", "worker"}),
            std::string(kLineColumns) +
                "/job.py,6,load,5000,5,0.816993\r\n"
                "<other threads>,,,1120,12,0.183007\r\n"
                "<tracing itself>,,,400,1,\r\n");
  EXPECT_THAT(Heap({}, {"--thread", "4712"}),
              HasSubstr("\nallocated by worker#4712: 4.9 KiB of these\n"));
  EXPECT_EQ(Heap({}, {"--collapsed", "--thread", "w*"}),
            "<module> (/job.py:9);load (/job.py:6) 5000\n");
  EXPECT_THAT(Heap({}, {"--thread", "worker"}, "tree"),
              AllOf(HasSubstr("allocated by worker#4712: 4.9 KiB"),
                    HasSubstr("/job.py:6"), Not(HasSubstr("/job.py:5"))));
  EXPECT_THAT(Heap({}, {"--thread", "worker"}, "flame"),
              AllOf(HasSubstr("allocated by worker#4712: 4.9 KiB of these"),
                    HasSubstr("job.py:6"), Not(HasSubstr("job.py:5"))));
}

TEST(HeapReportTest, SnapshotsOfAThread) {
  const auto stacks = nlohmann::json::parse(
      Heap({}, {"--json", "--thread", "worker"}, "snapshot"));
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks[0]["thread"], "worker#4712");
  EXPECT_EQ(Heap({}, {"--collapsed", "--thread", "worker"}, "snapshot"),
            "<module> (/job.py:9);load (/job.py:6) 5000\n");
}

TEST(HeapReportTest, WhereNoThreadCanBeChosenItIsSaidWhy) {
  TempFile file(HeapRun().Build());
  for (const auto& [command, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"report", "the answer covers the whole process"},
           {"export", "a profile covers the whole process"}}) {
    const Printed printed =
        Report({command, file.path(), "--thread", "worker"});
    EXPECT_EQ(printed.code, 2) << command;
    EXPECT_THAT(printed.err, HasSubstr("--thread: " + why)) << command;
  }
  EXPECT_THAT(Report({"stats", file.path(), "--thread", "worker"}).err,
              HasSubstr("--thread worker does not go with stats"));
  EXPECT_THAT(
      Report({"diff", file.path(), file.path(), "--thread", "worker"}).err,
      HasSubstr("--by thread"));
}

TEST(HeapReportTest, AThreadThatTheRunHasNot) {
  TempFile file(HeapRun().Build());
  for (const char* const command :
       {"heap", "tree", "flame", "history", "snapshot"}) {
    const Printed printed = Report({command, file.path(), "--thread", "x"});
    EXPECT_EQ(printed.code, 2) << command;
    EXPECT_EQ(printed.out, "") << command;
    EXPECT_THAT(printed.err,
                HasSubstr("expected MainThread#4711, worker#4712"));
  }
}

}  // namespace
}  // namespace pymemrun
