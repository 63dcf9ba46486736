// Lanes of the GIL, and of an interpreter that has locks instead of one.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/states_run_for_tests.h"
#include "readers/tracks/lines_sink_for_tests.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Lines(const std::string& run, uint64_t min_us) {
  TempFile path(run);
  const Console console{"test", nullptr};
  const auto file = RereadFile::Open(path.path(), console);
  LinesSink sink;
  SourceOptions options;
  options.min_us = min_us;
  EXPECT_TRUE(NewGilSource(options)->Give(file.get(), &sink));
  return sink.lines();
}

TEST(GilSourceTest, WithoutAGilALaneSaysWhatAThreadWaitsFor) {
  EXPECT_THAT(Lines(FreeThreaded().Build(), 1000),
              ElementsAre("thread worker", "lane locks of 1",
                          "begin 2 10000 waits for a lock", "end 2 50000",
                          "thread MainThread", "lane locks of 3",
                          "begin 4 60000 stops all threads", "end 4 65000",
                          "begin 2 62000 paused: all threads are stopped",
                          "end 2 80000"));
}

TEST(GilSourceTest, WhoWaitsAtTheEndWaitsUntilThen) {
  GilRun run(/*free_threaded=*/true);
  run.Add(At(30, 2, GIL_LOCK_WAITING));
  EXPECT_THAT(Lines(run.Build(), 0),
              ElementsAre("thread worker", "lane locks of 1",
                          "begin 2 30000 waits for a lock", "end 2 100000"));
}

// Holds of 0 to 100 ms in which it was without the GIL for so long.
std::vector<std::string> LinesOf(uint64_t let_go_ms, bool for_picture) {
  StatesRun run;
  run.Gil(0, 1, GIL_TAKEN).Gil(100, 1, GIL_STATE, 0, let_go_ms);
  TempFile path(run.Build());
  const Console console{"test", nullptr};
  const auto file = RereadFile::Open(path.path(), console);
  LinesSink sink;
  SourceOptions options;
  options.for_picture = for_picture;
  EXPECT_TRUE(NewGilSource(options)->Give(file.get(), &sink));
  return sink.lines();
}

TEST(GilSourceTest, AHoldThatIsMostlyPausesIsCalledSo) {
  EXPECT_THAT(
      LinesOf(30, false),
      ElementsAre("thread MainThread", "lane GIL of 1",
                  "begin 2 0 holds the GIL", "end 2 100000 let go 30000"));
  EXPECT_THAT(LinesOf(70, false),
              ElementsAre("thread MainThread", "lane GIL of 1",
                          "begin 2 0 holds the GIL, now and then",
                          "end 2 100000 let go 70000"));
}

// There it is faint.
TEST(GilSourceTest, PicturesHaveOneNameForHolds) {
  EXPECT_THAT(
      LinesOf(70, true),
      ElementsAre("thread MainThread", "lane GIL of 1",
                  "begin 2 0 holds the GIL", "end 2 100000 let go 70000"));
}

}  // namespace
}  // namespace pymemrun
