// What `pymemreport gil` and `offgil` say of an interpreter without a GIL.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/replay/gil/gil_replay.h"
#include "readers/report/pymemreport.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Printed ReportOf(const std::string& run, std::vector<std::string> command) {
  TempFile file(run);
  command.insert(command.begin() + 1, file.path());
  return Report(command);
}

TEST(LockReportTest, EachThreadWaitsStandsStillOrRuns) {
  const Printed printed = ReportOf(FreeThreaded().Build(), {"gil", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out,
            "thread,waiting_share,stopped_share,without_share,total_s,"
            "longest_wait_s,longest_wait_for,waiting_s,stopped_s,without_s,"
            "waits\r\n"
            "worker#12,0.444444,0.200000,0.355556,0.090000,0.040000,"
            "MainThread#11,0.040000,0.018000,0.032000,2\r\n"
            "MainThread#11,0.000000,0.050000,0.950000,0.100000,0.005000,"
            "<not known>,0.000000,0.005000,0.095000,2\r\n");
}

TEST(LockReportTest, TheSentenceNamesWhatKeepsLocksAndWhatStopsAll) {
  const std::string text = ReportOf(FreeThreaded().Build(), {"gil"}).out;
  EXPECT_THAT(
      text,
      HasSubstr("1 thread waits 44 % of its time for the interpreter's "
                "locks, 40.0 ms at most; for most of that time json.loads at "
                "app.py:31 holds them. All threads were stopped 1 time, "
                "for 20.0 ms in all, 20.0 ms at most, mostly by work at "
                "app.py:50."));
  EXPECT_THAT(text,
              HasSubstr("worker#12 waited for a lock for 40.0 ms at 0.010 "
                        "s, released by MainThread#11"));
  EXPECT_THAT(text, HasSubstr("18.0 ms at 0.062 s, by MainThread#11"));
  EXPECT_THAT(text, Not(HasSubstr("holds the GIL")));
}

TEST(LockReportTest, WhoWaitsForWhomAndWhereAllWereStopped) {
  const std::string run = FreeThreaded().Build();
  EXPECT_EQ(ReportOf(run, {"gil", "--csv", "--rows", "blockers"}).out,
            "waiter,holder,waiting_s,share\r\n"
            "worker#12,MainThread#11,0.058000,0.920635\r\n"
            "MainThread#11,<not known>,0.005000,0.079365\r\n");
  EXPECT_EQ(ReportOf(run, {"gil", "--csv", "--rows", "stops"}).out,
            "thread,stops,paused_s,longest_s,others_stood_s,line,calls\r\n"
            "MainThread#11,1,0.020000,0.020000,0.018000,/app.py:50 work,\r\n");
  EXPECT_EQ(ReportOf(run, {"gil", "--csv", "--rows", "gils"}).out,
            "interpreter,held_share,total_s,held_s,waiting_s,longest_wait_s,"
            "threads,takes,waits\r\n");
}

// Of a lock for 40 ms, and while all stood still for 18 ms.
TEST(LockReportTest, WaitsForThoseThatAreNotListedHaveTheStops) {
  const std::string text =
      ReportOf(FreeThreaded().Build(), {"gil", "--thread", "worker"}).out;
  EXPECT_THAT(text, HasSubstr("for 1  others  not known  waiter\n"
                              "    -   0.058          -  1 worker#12\n"));
}

// It asks each millisecond until all stand still; the next pause is another
// one.
TEST(LockReportTest, PausesThatFollowEachOtherAreToldApart) {
  GilRun run(/*free_threaded=*/true);
  for (const uint64_t begin : {10, 30}) {
    run.Add(At(begin, 1, GIL_STOPS_OTHERS))
        .Add(At(begin + 1, 1, GIL_OTHERS_STOPPED))
        .Add(At(begin + 1, 1, GIL_STOPS_OTHERS))
        .Add(At(begin + 2, 2, GIL_STANDS_STILL))
        .Add(At(begin + 2, 1, GIL_OTHERS_STOPPED))
        .Add(WithBy(At(begin + 5, 2, GIL_GOES_ON), 1));
  }
  // No thread had to be waited for.
  run.Add(At(50, 2, GIL_STANDS_STILL)).Add(At(51, 3, GIL_STANDS_STILL));
  run.Add(WithBy(At(54, 2, GIL_GOES_ON), 1));
  run.Add(WithBy(At(54, 3, GIL_GOES_ON), 1));
  const auto rows = nlohmann::json::parse(
      ReportOf(run.Build(), {"gil", "--json", "--rows", "stops"}).out);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["stops"], 3);
  EXPECT_EQ(rows[0]["paused_s"], 0.014);
  EXPECT_EQ(rows[0]["longest_s"], 0.005);
  EXPECT_EQ(rows[0]["others_stood_s"], 0.013);
}

TEST(LockReportTest, OffGilHasBoth) {
  const Printed printed =
      ReportOf(FreeThreaded().Build(), {"offgil", "--by", "holder", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("0.040000"));
  EXPECT_THAT(printed.out, HasSubstr("0.018000"));
}

// As while an extension is loaded; and where the GIL was switched on for good.
TEST(LockReportTest, AGilThatIsSwitchedOnCountsIfItIsUsed) {
  for (const uint64_t held_ms : {2, 60}) {
    GilRun run(/*free_threaded=*/true);
    run.Add(At(1, 1, GIL_TAKEN))
        .Add(WithHold(At(99, 1, GIL_STATE), 98 - held_ms));
    const std::string file = run.Build();
    const std::string text = ReportOf(file, {"gil"}).out;
    const std::string csv = ReportOf(file, {"gil", "--csv"}).out;
    const bool is_used = held_ms == 60;
    EXPECT_EQ(text.find("for the GIL") != std::string::npos, is_used) << text;
    EXPECT_EQ(csv.find("held_s") != std::string::npos, is_used) << csv;
    EXPECT_THAT(csv, HasSubstr("stopped_s"));
  }
}

TEST(LockReportTest, NoWaitingReadsAsGoodNews) {
  GilRun run(/*free_threaded=*/true);
  EXPECT_THAT(ReportOf(run.Build(), {"gil"}).out,
              HasSubstr("has no GIL, and no thread waited for its locks."));
  run.Add(At(0, 1, GIL_LOCK_WAITING)).Add(At(1, 1, GIL_LOCK_TAKEN));
  EXPECT_THAT(ReportOf(run.Build(), {"gil"}).out,
              HasSubstr("The interpreter's locks (it has no GIL) delay no "
                        "thread: 1 thread waits"));
}

}  // namespace
}  // namespace pymemrun
