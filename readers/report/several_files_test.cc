#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class SeveralFilesTest : public ::testing::Test {
 protected:
  Printed ReportBoth(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {first_.path(), second_.path()});
    return Report(words);
  }

  TempFile first_{PageEventsRun().Build()};
  TempFile second_{PageEventsRun().Build()};
};

TEST_F(SeveralFilesTest, TextTellsOfOneAfterTheOther) {
  const Printed printed = ReportBoth({"threads"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_THAT(printed.out, StartsWith(first_.path() + "\nRSS "));
  EXPECT_THAT(printed.out, HasSubstr("\n\n" + second_.path() + "\nRSS "));
}

TEST_F(SeveralFilesTest, CsvIsOneTableWithTheRunOfEachRow) {
  const Printed printed = ReportBoth({"threads", "--csv", "--limit", "1"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const std::vector<std::string> lines = CsvLines(printed);
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_THAT(lines[0], EndsWith(",run"));
  for (size_t i = 1; i < lines.size(); ++i) {
    EXPECT_THAT(lines[i], EndsWith("," + (i < 4 ? first_ : second_).path()));
  }
}

TEST_F(SeveralFilesTest, JsonIsOneArray) {
  const Printed printed = ReportBoth({"threads", "--json"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const auto rows = nlohmann::json::parse(printed.out);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0]["run"], first_.path());
  EXPECT_EQ(rows[5]["run"], second_.path());
}

TEST_F(SeveralFilesTest, OneThatCannotBeReadDoesNotHideTheOthers) {
  const Printed printed = Report(
      {"threads", "/nowhere.pb", first_.path(), second_.path(), "--json"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_THAT(printed.err, HasSubstr("/nowhere.pb"));
  EXPECT_EQ(nlohmann::json::parse(printed.out).size(), 6u);
}

TEST_F(SeveralFilesTest, WhatTellsOfOneRunTakesOne) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"flame"},
        {"export"},
        {"timeline"},
        {"history", "--csv"},
        {"report", "--json"}}) {
    const Printed printed = ReportBoth(words);
    EXPECT_EQ(printed.code, 2) << words[0];
    EXPECT_EQ(printed.out, "") << words[0];
    EXPECT_THAT(printed.err, HasSubstr(" takes one FILE, found 2")) << words[0];
  }
}

TEST_F(SeveralFilesTest, OneProcessAlone) {
  const Printed printed = ReportBoth({"threads", "--pid", "4711", "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  const Printed none = ReportBoth({"threads", "--pid", "7"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--pid: expected 4711, found 7"));
}

}  // namespace
}  // namespace pymemrun
