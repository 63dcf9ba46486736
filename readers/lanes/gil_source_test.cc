#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/lanes/lines_sink_for_tests.h"
#include "readers/lanes/track_source.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/states_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

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
  EXPECT_THAT(LinesOf(30, false),
              ElementsAre("thread MainThread", "lane GIL of 1",
                          "begin 2 0 holds the GIL",
                          "end 2 100000 let go 30000"));
  EXPECT_THAT(LinesOf(70, false),
              ElementsAre("thread MainThread", "lane GIL of 1",
                          "begin 2 0 holds the GIL, now and then",
                          "end 2 100000 let go 70000"));
}

// There it is faint.
TEST(GilSourceTest, PicturesHaveOneNameForHolds) {
  EXPECT_THAT(LinesOf(70, true),
              ElementsAre("thread MainThread", "lane GIL of 1",
                          "begin 2 0 holds the GIL",
                          "end 2 100000 let go 70000"));
}

}  // namespace
}  // namespace pymemrun
