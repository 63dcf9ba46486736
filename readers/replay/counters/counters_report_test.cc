// `pymemreport counters`, with a run that is written here.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kMiB = 1 << 20;

// Sentences are as wide as a terminal.
std::string Unwrapped(const Printed& printed) {
  return absl::StrReplaceAll(printed.out, {{"\n", " "}});
}

struct CountersRun {
  uint64_t every_us = 100000;
  uint64_t step_us = 100000;
  bool gc_runs = true;
  bool leaks = true;
  int more_counters = 0;
  uint64_t late_rss_mib = 0;  // read after the last sample; 0: not

  std::string Build() const {
    StringSink sink;
    RunBuilder builder(&sink);
    builder.AddHeader(RunBuilder::DefaultHeader());
    builder.AddThread("MainThread", 4711);
    const uint32_t code = builder.AddCode("/home/me/job.py", "work", 3);
    const uint32_t stack = builder.AddStack(0, code, 8);
    AddPlan(&builder, 0);
    for (uint64_t i = 0; i <= 10; ++i) AddSample(&builder, i);
    if (late_rss_mib > 0) {
      Record record;
      record.mutable_process()->set_time_us(11 * step_us);
      record.mutable_process()->set_rss_bytes(late_rss_mib * kMiB);
      builder.AddRecord(record);
    }
    AddGcRun(&builder, 100000, 102000, 0, 7, 0);
    AddGcRun(&builder, 500000, 550000, 2, 1000, stack);
    AddValue(&builder, 10, "queue", 3, false);
    AddValue(&builder, 20, "queue", -4, false);
    AddValue(&builder, 30, "rss", 3.2e-7, true);
    for (int i = 0; i < more_counters; ++i) {
      AddValue(&builder, 40, absl::StrCat("more ", i), 1, false);
    }
    AddPlan(&builder, 6);
    builder.Flush();
    return sink.contents();
  }

 private:
  void AddPlan(RunBuilder* builder, uint64_t refused) const {
    Record record;
    record.mutable_counter_plan()->set_every_us(every_us);
    record.mutable_counter_plan()->set_gc_runs(gc_runs);
    record.mutable_counter_plan()->set_refused(refused);
    builder->AddRecord(record);
  }
  void AddSample(RunBuilder* builder, uint64_t i) const {
    Record record;
    ProcessSample* const sample = record.mutable_process();
    sample->set_time_us(i * step_us);
    sample->set_counted(true);
    sample->set_rss_bytes((i == 4 ? 80 : 20 + i) * kMiB);
    sample->set_hwm_bytes(100 * kMiB);
    sample->set_pss_bytes(10 * kMiB);
    sample->set_user_us(i * 50000);
    sample->set_system_us(i * 10000);
    sample->set_minor_faults(1000 + i);
    sample->set_descriptors(1 + (leaks || i < 5 ? 3 + i : 3));
    builder->AddRecord(record);
  }
  void AddGcRun(RunBuilder* builder, uint64_t begin_us, uint64_t time_us,
                uint32_t generation, uint64_t collected, uint32_t stack) const {
    if (!gc_runs) return;
    Record record;
    GcRun* const run = record.mutable_gc_run();
    run->set_begin_us(begin_us);
    run->set_time_us(time_us);
    run->set_thread(1);
    run->set_generation(generation);
    run->set_collected(collected);
    run->set_stack(stack);
    builder->AddRecord(record);
  }
  void AddValue(RunBuilder* builder, uint64_t time_us, const std::string& name,
                double value, bool is_real) const {
    Record record;
    CounterValue* const counter = record.mutable_counter();
    counter->set_time_us(time_us);
    counter->set_thread(1);
    counter->set_name(name);
    is_real ? counter->set_real(value)
            : counter->set_whole(static_cast<int64_t>(value));
    builder->AddRecord(record);
  }
};

TEST(CountersReportTest, SentencesSayWhatTheProgramWasLike) {
  TempFile file(CountersRun().Build());
  const Printed printed = Report({"counters", file.path()});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(
      Unwrapped(printed),
      HasSubstr(
          "RSS was highest at 0.400 s: 80 MiB, PSS "
          "at 0.000 s: 10 MiB; between two samples RSS reached 100 MiB."));
  EXPECT_THAT(
      Unwrapped(printed),
      HasSubstr("It used 0.60 s of CPU time in 1.00 s, 60 % of one CPU: "
                "0.50 s by the program's code, 0.10 s by the kernel."));
  EXPECT_THAT(Unwrapped(printed),
              HasSubstr("The cycle collector ran 2 times and paused the "
                        "program for 52.0 ms in all (5 %), at worst for 50.0 "
                        "ms at 0.500 s (generation 2). It freed 1,007 "
                        "objects."));
  EXPECT_THAT(Unwrapped(printed),
              HasSubstr("At most 13 descriptors were open; their number only "
                        "grew, by 10"));
  EXPECT_THAT(Unwrapped(printed), HasSubstr("6 values of further names"));
  EXPECT_THAT(Unwrapped(printed), Not(HasSubstr("apart on average")));
}

TEST(CountersReportTest, APartOfTheTime) {
  TempFile file(CountersRun().Build());
  const Printed printed =
      Report({"counters", file.path(), "--from", "200ms", "--to", "700ms"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(Unwrapped(printed),
              HasSubstr("It used 0.30 s of CPU time in 0.50 s, 60 %"));
  EXPECT_THAT(Unwrapped(printed),
              HasSubstr("ran 1 time and paused the program for 50.0 ms in "
                        "all (10 %)"));
  EXPECT_THAT(Unwrapped(printed), Not(HasSubstr("between two samples")));
  EXPECT_THAT(Unwrapped(printed), Not(HasSubstr("queue")));
}

// 60 % of a CPU all the time.
TEST(CountersReportTest, WhatTheRangeLacksIsSaidWithWhenTheRunHasIt) {
  TempFile file(CountersRun().Build());
  const std::string lacks = file.path() + ": the range has no ";
  const auto at = [&file](std::vector<std::string> words) {
    words.insert(words.begin(), {"counters", file.path()});
    words.insert(words.end(), {"--from", "210ms", "--to", "220ms"});
    return Report(words);
  };
  const Printed text = at({});
  EXPECT_THAT(text.out,
              StartsWith("The cycle collector did not run in the range.\n"));
  EXPECT_THAT(text.out, Not(HasSubstr("over time")));
  EXPECT_THAT(text.err, HasSubstr(lacks + "counters; the run has them from "
                                          "0.000 s to 1.000 s\n"));
  EXPECT_EQ(at({"--csv"}).err, text.err);
  const Printed one = at({"--counter", "rss"});
  EXPECT_EQ(one.code, 2);
  EXPECT_THAT(one.err, HasSubstr(lacks + "values of rss; the run has them "));
  for (const char* const format : {"--csv", "--json", "--color=never"}) {
    EXPECT_THAT(at({"--gc", format}).err,
                HasSubstr(lacks + "runs of the cycle collector; the run has "
                                  "them from 0.100 s to 0.550 s\n"));
  }
}

TEST(CountersReportTest, APictureOfRssAndCpu) {
  TempFile file(CountersRun().Build());
  const Printed printed = Report({"counters", file.path(), "--svg"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("<title>RSS and CPU</title>"));
  EXPECT_THAT(printed.out, HasSubstr("a full bar of CPU is 100 % of one CPU"));
  EXPECT_THAT(printed.out, HasSubstr("0.60 s"));
  EXPECT_THAT(printed.out, HasSubstr("10, at most 10 a second"));
  EXPECT_EQ(Report({"counters", file.path(), "--svg", "--csv"}).code, 2);
}

// From one moment, so that the column's values can be compared.
TEST(CountersReportTest, LastValuesAreOfOneTime) {
  CountersRun run;
  run.late_rss_mib = 99;
  TempFile file(run.Build());
  const Printed printed = Report({"counters", file.path()});
  EXPECT_THAT(printed.out, ContainsRegex("rss +20 MiB +99 MiB +30 MiB"));
}

TEST(CountersReportTest, DescriptorsThatAreClosedAreNoLeak) {
  CountersRun run;
  run.leaks = false;
  TempFile file(run.Build());
  EXPECT_THAT(Unwrapped(Report({"counters", file.path()})),
              HasSubstr("At most 7 descriptors were open, 3 at the end."));
}

TEST(CountersReportTest, SamplesThatCameLateAreTold) {
  CountersRun run;
  run.step_us = 300000;
  TempFile file(run.Build());
  EXPECT_THAT(Unwrapped(Report({"counters", file.path()})),
              HasSubstr("Samples are 300.0 ms apart on average; 100.0 ms"));
}

TEST(CountersReportTest, EachCounterHasALineWithACurve) {
  TempFile file(CountersRun().Build());
  const Printed printed =
      Report({"counters", file.path(), "--counter", "queue"});
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  ASSERT_EQ(lines.size(), 3u) << printed.out;
  EXPECT_THAT(lines[1], ::testing::MatchesRegex("queue +-4 +3 +-4  [^ ].*"));
}

TEST(CountersReportTest, RowsForMachinesHaveEachValue) {
  TempFile file(CountersRun().Build());
  const Printed csv = Report({"counters", file.path(), "--csv", "--counter",
                              "queue", "--counter", "user:rss"});
  EXPECT_THAT(CsvLines(csv),
              ElementsAre("clock_s,counter,value", "0.000010,queue,3",
                          "0.000020,queue,-4", "0.000030,user:rss,3.2e-07"));
  const auto json =
      nlohmann::json::parse(Report({"counters", file.path(), "--json"}).out);
  EXPECT_EQ(json.size(), 8 * 11u - 11u + 3u);  // no heap was recorded
  EXPECT_EQ(json[0]["counter"], "rss");
  EXPECT_EQ(json[0]["value"], 20.0 * kMiB);
}

TEST(CountersReportTest, RunsOfTheCollectorTheLongestFirst) {
  TempFile file(CountersRun().Build());
  const auto json = nlohmann::json::parse(
      Report({"counters", file.path(), "--json", "--gc"}).out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["clock_s"], 0.5);
  EXPECT_EQ(json[0]["generation"], 2);
  EXPECT_EQ(json[0]["collected"], 1000);
  EXPECT_EQ(json[0]["file"], "/home/me/job.py");
  EXPECT_EQ(json[0]["line"], 8);
  EXPECT_EQ(json[0]["thread"], "MainThread#4711");
  EXPECT_TRUE(json[1]["line"].is_null());
  const Printed text =
      Report({"counters", file.path(), "--gc", "--limit", "1"});
  EXPECT_THAT(text.out, HasSubstr("1 more run not shown (--limit)"));
}

TEST(CountersReportTest, WhatIsNotThereIsSaidInALine) {
  TempFile file(CountersRun().Build());
  Printed printed = Report({"counters", file.path(), "--counter", "none"});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr(": has no counter 'none'; it has rss, "));
  CountersRun many;
  many.more_counters = 1000;
  TempFile large(many.Build());
  printed = Report({"counters", large.path(), "--counter", "none"});
  EXPECT_THAT(printed.err, HasSubstr(", 999 more\n"));
  TempFile without(SmallRun().Build());
  printed = Report({"counters", without.path()});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err,
              HasSubstr(": has no counters: record them with "
                        "pymemrun --trace counters, or with "
                        "calls,pages,counters to keep the usual records\n"));
  CountersRun deaf;
  deaf.gc_runs = false;
  TempFile no_gc(deaf.Build());
  EXPECT_EQ(Report({"counters", no_gc.path(), "--gc"}).code, 2);
  EXPECT_THAT(Report({"counters", no_gc.path()}).out,
              HasSubstr("not recorded for this Python"));
}

}  // namespace
}  // namespace pymemrun
