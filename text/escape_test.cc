#include "text/escape.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace pymemrun {
namespace {

std::string Csv(absl::string_view name, bool guard = true) {
  std::string out;
  AppendCsvCell(name, guard, &out);
  return out;
}

std::string Json(absl::string_view name) {
  std::string out;
  AppendJsonString(name, &out);
  return out;
}

TEST(CsvCellTest, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(Csv("plain"), "plain");
  EXPECT_EQ(Csv("a,b"), "\"a,b\"");
  EXPECT_EQ(Csv("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(Csv("a\nb\rc"), "\"a\nb\rc\"");
}

TEST(CsvCellTest, DisarmsFormulas) {
  EXPECT_EQ(Csv("=cmd|' /C calc'!A0"), "'=cmd|' /C calc'!A0");
  for (const char* begin : {"=", "+", "-", "@", "\t"}) {
    EXPECT_EQ(Csv(begin), std::string("'") + begin);
  }
  EXPECT_EQ(Csv("\rx"), "\"'\rx\"");
  EXPECT_EQ(Csv("=1,2"), "\"'=1,2\"");
  EXPECT_EQ(Csv("a=b"), "a=b");
}

TEST(CsvCellTest, RawTextIsNotDisarmed) {
  EXPECT_EQ(Csv("=1", /*guard=*/false), "=1");
}

TEST(CsvCellTest, EscapesControls) {
  EXPECT_EQ(Csv("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(Csv("\xed\xb2\x80\xff"), "\\udc80\\xff");
}

TEST(JsonStringTest, IsValidJsonThatGivesTheNameBack) {
  const std::string name = "a\"b\\c\n\t\x1b\x7f caf\xc3\xa9 \xe2\x80\xae";
  EXPECT_EQ(nlohmann::json::parse(Json(name)).get<std::string>(), name);
  EXPECT_EQ(Json(absl::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(JsonStringTest, EscapesSurrogatesAndBadBytesAsPythonDoes) {
  EXPECT_EQ(Json("\xed\xa0\xbd"), "\"\\ud83d\"");
  EXPECT_EQ(Json("\xff"), "\"\\udcff\"");
}

TEST(JsonStringTest, EscapesBeyondTheBasicPlaneAsPairs) {
  EXPECT_EQ(Json("\xf3\xa0\x81\x81"), "\"\\udb40\\udc41\"");
  EXPECT_EQ(Json("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

}  // namespace
}  // namespace pymemrun
