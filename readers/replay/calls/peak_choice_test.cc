#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/replay/calls/call_filter.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PeakRule kRule = {
    .min_bytes = 100, .min_time_us = 10, .min_value_bytes = 50};

EndedCall Ended(uint64_t time_us, int64_t growth_bytes) {
  return {.number = time_us,
          .events = 1,
          .time_us = time_us,
          .took_us = 1,
          .growth_bytes = growth_bytes,
          .site = 1,
          .call_site = 0,
          .thread = 1,
          .charged_bytes = growth_bytes};
}

std::vector<uint64_t> Times(const std::vector<EndedCall>& peaks) {
  std::vector<uint64_t> times;
  for (const EndedCall& peak : peaks) times.push_back(peak.time_us);
  return times;
}

TEST(PeakChoiceTest, OnlyWhatIsBeyondTheLeastIsAPeakAlsoShrinkage) {
  EXPECT_THAT(Times(ChoosePeaks({Ended(0, 100), Ended(100, 101),
                                 Ended(200, -100), Ended(300, -101)},
                                kRule, 0)),
              ElementsAre(100, 300));
}

TEST(PeakChoiceTest, APeakIsKeptThatIsFarInTimeOrInValue) {
  EXPECT_THAT(
      Times(ChoosePeaks({Ended(0, 200), Ended(10, 250), Ended(11, 200),
                         Ended(12, 251), Ended(13, -200), Ended(14, -150)},
                        kRule, 0)),
      ElementsAre(0, 11, 12, 13));
}

// Small steps away from what was kept add up, those from what was not do not.
TEST(PeakChoiceTest, DistanceIsToTheLastPeakThatWasKept) {
  EXPECT_THAT(Times(ChoosePeaks({Ended(0, 200), Ended(6, 230), Ended(10, 245),
                                 Ended(12, 260), Ended(14, 270)},
                                kRule, 0)),
              ElementsAre(0, 12));
}

TEST(PeakChoiceTest, TheUsualDistanceIsAHundredthOfTheRun) {
  PeakRule rule = kRule;
  rule.min_time_us.reset();
  EXPECT_THAT(Times(ChoosePeaks({Ended(0, 200), Ended(7, 200), Ended(8, 200)},
                                rule, 700)),
              ElementsAre(0, 8));
  EXPECT_THAT(ChoosePeaks({}, rule, 700), IsEmpty());
}

TEST(PeakChoiceTest, ALineSaysWhoWhereAndHowMuch) {
  RunIndex index;
  ThreadDef thread;
  thread.set_id(1);
  thread.set_name("Thread-6");
  thread.set_native_id(4718);
  index.Add(thread);
  CodeDef code;
  code.set_id(1);
  code.set_file("/src/main.py");
  code.set_name("run");
  index.Add(code);
  SiteDef site;
  site.set_id(1);
  site.set_what(RETURN);
  site.set_code(1);
  site.set_line(44);
  index.Add(site);
  EXPECT_EQ(PeakLine(18, Ended(5, 212992), index, "/src/"),
            "18: Thread-6>main.py:44:run=>212992");
  EXPECT_EQ(PeakLine(1, Ended(5, -8), index, ""),
            "1: Thread-6>/src/main.py:44:run=>-8");
}

}  // namespace
}  // namespace pymemrun
