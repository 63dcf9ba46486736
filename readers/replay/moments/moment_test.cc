#include "readers/replay/moments/moment.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(ParseMomentTest, WordsAreMoments) {
  EXPECT_EQ(ParseMoment("peak")->kind, Moment::kPeak);
  EXPECT_EQ(ParseMoment("heap-peak")->kind, Moment::kHeapPeak);
  EXPECT_EQ(ParseMoment("end")->kind, Moment::kEnd);
  EXPECT_EQ(ParseMoment("exit")->kind, Moment::kExit);
}

TEST(ParseMomentTest, TimesHaveUnitsOrAreSeconds) {
  const std::pair<const char*, uint64_t> kCases[] = {
      {"1.5", 1500000},  {"1s", 1000000},    {"1500ms", 1500000}, {"20us", 20},
      {"2m", 120000000}, {"1h", 3600000000}, {".5s", 500000},     {"0", 0}};
  for (const auto& [text, time_us] : kCases) {
    const auto moment = ParseMoment(text);
    ASSERT_TRUE(moment.ok()) << text;
    EXPECT_EQ(moment->kind, Moment::kTime) << text;
    EXPECT_EQ(moment->time_us, time_us) << text;
  }
}

TEST(ParseTimeTest, TimesHaveUnitsOrAreSeconds) {
  EXPECT_EQ(*ParseTime("0.684542"), 684542u);
  EXPECT_EQ(*ParseTime(".5"), 500000u);
  EXPECT_EQ(*ParseTime("0"), 0u);
  EXPECT_EQ(*ParseTime("500ms"), 500000u);
  for (const char* text : {"", "-1", "nan", "1x", ".", "peak"}) {
    EXPECT_FALSE(ParseTime(text).ok()) << text;
  }
}

TEST(ParseMomentTest, SharesAreOfTheRun) {
  EXPECT_EQ(ParseMoment("50%")->kind, Moment::kShare);
  EXPECT_EQ(ParseMoment("12.5%")->share, 0.125);
  EXPECT_EQ(ParseMoment("101%").status().message(),
            "expected a share from 0% to 100%, found '101%'");
}

TEST(ParseEndTest, LiesBehindTheBeginWhereEachRunHasBoth) {
  const Moment second = *ParseMoment("1s"), half = *ParseMoment("50%");
  EXPECT_TRUE(ParseEnd("2", second, "--from").ok());
  EXPECT_TRUE(ParseEnd("60%", half, "--from").ok());
  for (const char* text : {"10%", "peak", "label"}) {
    EXPECT_TRUE(ParseEnd(text, second, "--from").ok()) << text;
  }
  EXPECT_EQ(ParseEnd("500ms", second, "--from").status().message(),
            "expected a moment after --from, found '500ms'");
  EXPECT_FALSE(ParseEnd("1", second, "--from").ok());
  EXPECT_FALSE(ParseEnd("50%", half, "--from").ok());
  EXPECT_TRUE(ParseEnd("1", second, "--at", /*may_be_empty=*/true).ok());
  EXPECT_EQ(ParseEnd("0", second, "--at", true).status().message(),
            "expected a moment not before --at, found '0'");
}

TEST(ParseMomentTest, AllElseIsALabel) {
  for (const char* text : {"loaded", "1x", "-1", "nan", "1e5", "1.2.3", ""}) {
    EXPECT_EQ(ParseMoment(text)->kind, Moment::kMark) << text;
    EXPECT_EQ(ParseMoment(text)->label, text);
  }
  EXPECT_EQ(ParseMoment("mark:peak")->kind, Moment::kMark);
  EXPECT_EQ(ParseMoment("mark:peak")->label, "peak");
  EXPECT_FALSE(ParseMoment("99999999999999999").ok());
}

}  // namespace
}  // namespace pymemrun
