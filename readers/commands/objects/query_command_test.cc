#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/commands/objects/pymemobj.h"
#include "readers/testing/object_run_builder.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Printed Query(const std::string& sql, const std::string& format = "") {
  ObjectRunBuilder builder;
  builder.Refer(builder.AddGroup("modules"), builder.Add("dict", 64), EDGE_ROOT,
                "sys.modules");
  const TempFile file(builder.Write());
  std::vector<std::string> arguments = {file.path(), "query", sql};
  if (!format.empty()) arguments.push_back(format);
  return Objects(arguments);
}

TEST(QueryCommandTest, TextHasTheColumnsOfTheSelect) {
  EXPECT_EQ(
      Query("SELECT type, size / 2.0 AS half, 'x' AS word, size FROM nodes "
            "WHERE type = 'dict'")
          .out,
      "1 row.\n\n"
      "type  half  word  size\n"
      "dict    32  x       64\n");
}

TEST(QueryCommandTest, NamesOfColumnsAreHarmlessForATerminal) {
  const std::string text = Query("SELECT 1 AS \"\x1b]0;x\x07\"").out;
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\x07")));
}

TEST(QueryCommandTest, CsvHasAllDigitsOfAReal) {
  EXPECT_THAT(CsvLines(Query("SELECT 0.1 AS a, 1e-9 AS b, 2e18 AS c", "--csv")),
              ElementsAre("a,b,c", "0.1,1e-09,2e+18"));
}

TEST(QueryCommandTest, WhatIsInfiniteIsNullInJson) {
  const Printed printed =
      Query("SELECT 1e999 AS most, -1e999 AS least, 0.5 AS half", "--json");
  const auto json = nlohmann::json::parse(printed.out);
  EXPECT_TRUE(json[0]["most"].is_null());
  EXPECT_TRUE(json[0]["least"].is_null());
  EXPECT_EQ(json[0]["half"], 0.5);
}

}  // namespace
}  // namespace pymemrun
