#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/diff_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "text/units_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Which places `diff` lists, and in what order.
class DiffPlacesTest : public ::testing::Test {
 protected:
  Printed Diff(std::vector<std::string> options) const {
    options.insert(options.begin(), {"diff", old_.path(), new_.path()});
    return Report(options);
  }
  // The lines' numbers, of live bytes at their peak.
  std::vector<std::string> Lines(std::vector<std::string> options) const {
    options.push_back("--csv");
    std::vector<std::string> lines;
    for (const std::string& row : CsvLines(Diff(options))) {
      if (row.find("heap,") != 0) continue;
      const size_t at = row.find(".py,") + 4;
      lines.push_back(row.substr(at, row.find(',', at) - at));
    }
    return lines;
  }

  TempFile old_{DiffRun{{{11, 1, 4 * kMiB}, {12, 2, 2 * kMiB}}}.Build()};
  TempFile new_{DiffRun{{{11, 1, 6 * kMiB}, {12, 2, 3 * kMiB}}}.Build()};
};

TEST_F(DiffPlacesTest, TheyAreSortedAsAsked) {
  EXPECT_THAT(Lines({}), ElementsAre("11", "12"));
  EXPECT_THAT(Lines({"--sort", "change:asc"}), ElementsAre("12", "11"));
  EXPECT_THAT(Lines({"--sort", "change:asc", "--limit", "1"}),
              ElementsAre("12"));
}

// In CSV it only says which table the row is of.
TEST_F(DiffPlacesTest, TheMeasureOfATableSortsNothing) {
  const Printed text = Diff({"--sort", "measure"});
  const Printed csv = Diff({"--sort", "measure", "--csv"});
  for (const Printed& refused : {text, csv}) {
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "");
    EXPECT_THAT(refused.err, HasSubstr("--sort: expected file, line, function, "
                                       "change, "));
  }
  EXPECT_THAT(CsvLines(Diff({"--csv"}))[0],
              testing::StartsWith("measure,file,line,function,change_bytes,"));
}

TEST_F(DiffPlacesTest, OthersAreLeftOut) {
  EXPECT_THAT(Lines({"--file", "job.py"}), ElementsAre("11", "12"));
  EXPECT_THAT(Lines({"--file", "other.py"}), ElementsAre());
  EXPECT_THAT(Diff({"--file", "other.py"}).out,
              HasSubstr("\nno listed place changed\n"));
}

TEST_F(DiffPlacesTest, ThatNoPlaceIsListedIsSaid) {
  for (const char* const option : {"--file", "--function"}) {
    EXPECT_EQ(Diff({option, "other.py", "--csv"}).err,
              std::string("pymemreport: ") + option +
                  " 'other.py' leaves no place; --by library-line lists those "
                  "of libraries, too\n");
  }
  EXPECT_EQ(Diff({"--exclude", "*", "--by", "file"}).err,
            "pymemreport: --exclude '*' leaves no place\n");
  EXPECT_EQ(Diff({"--file", "job.py"}).err, "");
}

TEST_F(DiffPlacesTest, WhatIsWrongIsSaidBeforeAnythingIsPrinted) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--sort", "colour"},
        {"--by", "thread", "--file", "job.py"},
        {"--stacks", "--sort", "change"}}) {
    const Printed printed = Diff(wrong);
    EXPECT_EQ(printed.code, 2) << wrong[0];
    EXPECT_EQ(printed.out, "") << wrong[0];
    EXPECT_NE(printed.err, "") << wrong[0];
  }
}

}  // namespace
}  // namespace pymemrun
