// Lanes of an interpreter that has locks instead of a GIL.
#include "readers/lanes/track_source.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/lanes/lines_sink_for_tests.h"
#include "readers/testing/gil_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Lines(const std::string& run, uint64_t min_us) {
  TempFile path(run);
  const Console console{"test", nullptr};
  const auto file = RereadFile::Open(path.path(), console);
  LinesSink sink;
  EXPECT_TRUE(NewGilSource(min_us)->Give(file.get(), &sink));
  return sink.lines();
}

TEST(GilSourceTest, WithoutAGilALaneSaysWhatAThreadWaitsFor) {
  EXPECT_THAT(
      Lines(FreeThreaded().Build(), 1000),
      ElementsAre("thread worker", "lane locks of 1",
                  "begin 2 10000 waits for a lock", "end 2 50000",
                  "thread MainThread", "lane locks of 3",
                  "begin 4 60000 stops all threads", "end 4 65000",
                  "begin 2 62000 stands still: all threads are stopped",
                  "end 2 80000"));
}

TEST(GilSourceTest, WhoWaitsAtTheEndWaitsUntilThen) {
  GilRun run(/*free_threaded=*/true);
  run.Add(At(30, 2, GIL_LOCK_WAITING));
  EXPECT_THAT(Lines(run.Build(), 0),
              ElementsAre("thread worker", "lane locks of 1",
                          "begin 2 30000 waits for a lock", "end 2 100000"));
}

}  // namespace
}  // namespace pymemrun
