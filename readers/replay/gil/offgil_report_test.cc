// `pymemreport gil --off`: where threads wait for the GIL.
#include <string>
#include <vector>

#include "format/timed/state_batch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/report/pymemreport.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHead[] =
    "depth,file,line,function,waiting_s,self_s,waits,share\r\n";

Printed OffGil(const std::string& run, std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {"offgil", file.path()});
  return Report(options);
}

double TotalOf(const std::string& run, std::vector<std::string> options) {
  options.push_back("--json");
  double sum = 0;
  for (const auto& row : nlohmann::json::parse(OffGil(run, options).out)) {
    sum += row["self_s"].get<double>();
  }
  return sum;
}

TEST(OffGilReportTest, EachThreadHasTheStacksOfItsWaits) {
  const Printed printed = OffGil(Contended().Build(), {"--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out, std::string(kHead) +
                             "0,,,worker#12,0.040000,0.000000,1,1.000000\r\n"
                             "1,/app.py,50,work,0.040000,0.040000,1,1.000000"
                             "\r\n");
}

TEST(OffGilReportTest, ByHolderItIsWhereTheHolderLetGo) {
  const std::string run = Contended().Build();
  EXPECT_EQ(OffGil(run, {"--collapsed", "--by", "holder"}).out,
            "MainThread#11;work (/app.py:31);loads "
            "(/usr/lib/python3.11/json/__init__.py:346);"
            "json.scanner.scan_once 40000\n");
  EXPECT_EQ(OffGil(run, {"--collapsed", "--by", "both"}).out,
            "worker#12;work (/app.py:50);waits for MainThread#11;"
            "work (/app.py:31);loads "
            "(/usr/lib/python3.11/json/__init__.py:346);"
            "json.scanner.scan_once 40000\n");
  EXPECT_EQ(OffGil(run, {"--collapsed", "--by", "holder", "--inverted",
                         "--merge-threads"})
                .out,
            "json.scanner.scan_once;loads "
            "(/usr/lib/python3.11/json/__init__.py:346);work (/app.py:31) "
            "40000\n");
}

TEST(OffGilReportTest, TheTextSaysHowMuchIsCounted) {
  const std::string text = OffGil(Contended().Build(), {}).out;
  EXPECT_THAT(text, HasSubstr("Threads waited 0.040 s for the GIL.\n"));
  EXPECT_THAT(text, HasSubstr("0.040 s 100 %"));
  EXPECT_THAT(text, HasSubstr("work  /app.py:50"));
}

TEST(OffGilReportTest, ShortWaitsAreSummedUpWithoutStack) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN));
  for (uint64_t i = 0; i < 4; ++i) {
    GilEvent waits = At(10 + 10 * i, 2, GIL_WAITING);
    run.Add(waits);
    waits.time_ns += kMs / 2;
    waits.action = GIL_TAKEN;
    run.Add(waits);
    run.Add(At(15 + 10 * i, 1, GIL_TAKEN));
  }
  const std::string file = run.Build();
  EXPECT_EQ(OffGil(file, {"--collapsed"}).out,
            "worker#12;<waits under 1 ms> 2000\n");
  EXPECT_THAT(OffGil(file, {}).out,
              HasSubstr("For 0.002 s (100.0 %) the stack is unknown."));
}

// It gives way at the line that its own stack named when it let go, and goes
// on to wait: that is one wait.
TEST(OffGilReportTest, GivingWayHasTheStackOfLettingGo) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(At(5, 2, GIL_WAITING))
      .Add(WithStack(At(40, 1, GIL_HOLDER), 3))
      .Add(At(40, 1, GIL_GIVING_WAY))
      .Add(WithHold(At(50, 2, GIL_TAKEN), 10))
      .Add(At(50, 1, GIL_GAVE_WAY))
      .Add(At(50, 1, GIL_WAITING))
      .Add(At(70, 1, GIL_TAKEN))
      .Add(WithHold(At(100, 1, GIL_STATE), 0));
  EXPECT_EQ(OffGil(run.Build(), {"--csv", "--thread", "11"}).out,
            std::string(kHead) +
                "0,,,MainThread#11,0.030000,0.000000,1,1.000000\r\n"
                "1,/app.py,50,work,0.030000,0.030000,1,1.000000\r\n");
}

// A later hold of the thread has no stack: the one before is not its own.
TEST(OffGilReportTest, AStackOfLongAgoIsNotThatOfGivingWay) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN))
      .Add(WithStack(At(10, 1, GIL_HOLDER), 3))
      .Add(At(40, 1, GIL_GIVING_WAY))
      .Add(WithHold(At(50, 2, GIL_TAKEN), 10))
      .Add(At(50, 1, GIL_GAVE_WAY));
  EXPECT_EQ(OffGil(run.Build(), {"--collapsed"}).out,
            "MainThread#11;<no stack> 10000\n");
}

TEST(OffGilReportTest, WhoWaitsToTheEndIsCounted) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN)).Add(At(20, 2, GIL_WAITING));
  EXPECT_EQ(OffGil(run.Build(), {"--collapsed", "--by", "both"}).out,
            "worker#12;<no stack>;waits for MainThread#11;<no stack> 80000\n");
}

TEST(OffGilReportTest, TheTotalIsThatOfTheCommandGil) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN)).Add(At(1, 3, GIL_WAITING));
  for (uint64_t ms = 2; ms <= 90; ++ms) {
    run.Add(At(ms, 1 + ms % 2, ms % 3 == 0 ? GIL_GIVING_WAY : GIL_TAKEN));
    if (ms % 5 == 0) run.Add(WithStack(At(ms, 1 + ms % 2, GIL_HOLDER), 2));
    if (ms % 7 == 0) run.Add(WithStack(At(ms, 1 + ms % 2, GIL_WAITER), 1));
  }
  run.Add(At(91, 3, GIL_TAKEN));
  const std::string file = run.Build();
  TempFile path(file);
  double waited = 0, waits = 0, waits_here = 0;
  for (const auto& row :
       nlohmann::json::parse(Report({"gil", path.path(), "--json"}).out)) {
    waited += row["waiting_s"].get<double>();
    waits += row["waits"].get<double>();
  }
  EXPECT_GT(waited, 0.09);
  for (const auto& row : nlohmann::json::parse(
           OffGil(file, {"--json", "--merge-threads", "--limit", "0"}).out)) {
    if (row["depth"] == 0) waits_here += row["waits"].get<double>();
  }
  EXPECT_EQ(waits_here, waits);
  for (const char* by : {"waiter", "holder", "both"}) {
    EXPECT_NEAR(TotalOf(file, {"--by", by, "--limit", "0"}), waited, 1e-6)
        << by;
  }
}

TEST(OffGilReportTest, MoreHoldsThanAreRememberedAreSeveralThreads) {
  GilRun run;
  run.Add(At(0, 1, GIL_TAKEN)).Add(At(1, 3, GIL_WAITING));
  for (uint64_t ms = 2; ms <= 90; ++ms) run.Add(At(ms, 1 + ms % 2, GIL_TAKEN));
  run.Add(At(91, 3, GIL_TAKEN));
  const std::string file = run.Build();
  EXPECT_THAT(OffGil(file, {"--collapsed", "--by", "holder"}).out,
              HasSubstr("<several threads> "));
  EXPECT_NEAR(TotalOf(file, {"--by", "holder", "--limit", "0"}), 0.09, 1e-6);
}

TEST(OffGilReportTest, TheFlameGraphIsOfSeconds) {
  const std::string svg = OffGil(Contended().Build(), {"--svg"}).out;
  EXPECT_THAT(svg, HasSubstr("<title>work (/app.py:50)\n0.040 s in 1 wait, "
                             "100.00 %</title>"));
  EXPECT_THAT(svg, HasSubstr("data-b=\"40000000\""));
  EXPECT_THAT(svg, HasSubstr("data-unit=\"s\""));
  EXPECT_THAT(svg, HasSubstr(">Waits for the GIL</text>"));
}

TEST(OffGilReportTest, SleepsForSomethingElseAreAddedWhenAskedFor) {
  const std::string without = Contended().Build();
  const Printed refused = OffGil(without, {"--sleeps"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("has no states of threads: record them with "
                        "pymemrun --trace states\n"));
  GilRun run = Contended();
  Record record;
  record.mutable_state_recording()->set_switches(true);
  run.AddRecord(record);
  StateBatchEncoder states;
  states.Append({0, 3, STATE_RUNS, SLEEP_UNKNOWN, ""});
  states.Append({10 * kMs, 3, STATE_SLEEPS, SLEEP_UNKNOWN, ""});
  states.Append({14 * kMs, 3, STATE_SEEN, SLEEP_IO, ""});
  states.Append({70 * kMs, 3, STATE_RUNS, SLEEP_UNKNOWN, ""});
  states.Take(record.mutable_states());
  run.AddRecord(record);
  const std::string file = run.Build();
  EXPECT_THAT(OffGil(file, {"--collapsed", "--sleeps"}).out,
              HasSubstr("idle#13;<sleeps for I/O> 60000\n"));
  EXPECT_THAT(OffGil(file, {"--sleeps"}).out,
              HasSubstr("They slept 0.060 s for other reasons."));
  EXPECT_THAT(OffGil(file, {"--collapsed"}).out, Not(HasSubstr("idle")));
}

TEST(OffGilReportTest, OptionsThatDoNotGoTogetherAreRefused) {
  const std::string run = Contended().Build();
  for (const auto& options :
       std::vector<std::vector<std::string>>{{"--csv", "--collapsed"},
                                             {"--svg", "--json"},
                                             {"--svg", "--limit", "3"},
                                             {"--by", "both", "--inverted"},
                                             {"--by", "holder", "--sleeps"},
                                             {"--by", "nobody"},
                                             {"--thread", "nobody"}}) {
    EXPECT_EQ(OffGil(run, options).code, 2) << options[0];
  }
}

TEST(OffGilReportTest, AFileWithoutGilEventsSaysHowToRecordThem) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.Flush();
  const Printed printed = OffGil(sink.contents(), {});
  EXPECT_EQ(printed.code, 2);
  EXPECT_THAT(printed.err, HasSubstr("has no GIL events: record them with "
                                     "pymemrun --trace gil"));
}

}  // namespace
}  // namespace pymemrun
