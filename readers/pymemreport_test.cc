#include "readers/pymemreport.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Printed Report(const std::vector<std::string>& arguments) {
  return RunProgram("pymemreport", [&](const Console& console) {
    return RunPymemreport(arguments, console);
  });
}

TEST(PymemreportTest, TopAsCsv) {
  TempFile file(SmallRun().Build());
  const Printed printed = Report({"top", file.path(), "--csv"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out,
            "file,line,function,growth_bytes,shrinkage_bytes,net_bytes,rows,"
            "share\r\n"
            "/job.py,5,work,4194304,1048576,3145728,2,0.800000\r\n"
            "/job.py,3,work,1048576,0,1048576,1,0.200000\r\n"
            "tracing itself,,,1067008,0,1067008,0,\r\n");
}

TEST(PymemreportTest, TopAsJson) {
  TempFile file(SmallRun().Build());
  const Printed printed =
      Report({"top", file.path(), "--json", "--by", "thread"});
  const auto json = nlohmann::json::parse(printed.out);
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["thread"], "MainThread#4711");
  EXPECT_EQ(json[0]["growth_bytes"], 5242880);
  EXPECT_EQ(json[2]["thread"], "tracing itself");
  EXPECT_TRUE(json[2]["share"].is_null());
}

TEST(PymemreportTest, TopAsTextPutsNamesLast) {
  TempFile file(SmallRun().Build());
  const Printed printed = Report({"top", file.path(), "--limit", "1"});
  const std::vector<std::string> lines = absl::StrSplit(printed.out, '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("growth"));
  EXPECT_THAT(lines[1], HasSubstr("4.0 MiB"));
  EXPECT_THAT(lines[1], HasSubstr("80.0 %"));
  EXPECT_THAT(lines[1], HasSubstr("/job.py"));
  EXPECT_THAT(lines[2], HasSubstr("tracing itself"));
}

TEST(PymemreportTest, SeveralFilesAreAddedUp) {
  TempFile file(SmallRun().Build());
  const Printed printed =
      Report({"top", file.path(), file.path(), "--csv", "--by", "file"});
  EXPECT_THAT(printed.out, HasSubstr("\r\n/job.py,10485760,2097152,"));
}

TEST(PymemreportTest, SummaryTellsTheFactsAndTheTopLines) {
  TempFile file(SmallRun().Build());
  const Printed printed = Report({"summary", file.path()});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, StartsWith("command         python3 job.py\n"));
  EXPECT_THAT(printed.out, HasSubstr("\nend             exit status 3\n"));
  EXPECT_THAT(printed.out, HasSubstr("13.0 MiB at event 10, "));
  EXPECT_THAT(printed.out, HasSubstr("lines with the most growth"));
}

TEST(PymemreportTest, SummaryAsCsvAndJson) {
  TempFile file(SmallRun().Build());
  EXPECT_THAT(Report({"summary", file.path(), "--csv"}).out,
              StartsWith("fact,value\r\ncommand,python3 job.py\r\n"));
  const auto json =
      nlohmann::json::parse(Report({"summary", file.path(), "--json"}).out);
  EXPECT_EQ(json[0]["end"], "exit status 3");
}

TEST(PymemreportTest, OutputGoesToAPath) {
  TempFile file(SmallRun().Build()), target("");
  const Printed printed =
      Report({"top", file.path(), "--csv", "-o", target.path()});
  EXPECT_EQ(printed.code, 0);
  EXPECT_EQ(printed.out, "");
  FILE* written = fopen(target.path().c_str(), "r");
  char first[5] = {};
  ASSERT_EQ(fread(first, 1, 4, written), 4u);
  fclose(written);
  EXPECT_STREQ(first, "file");
  EXPECT_EQ(Report({"top", file.path(), "-o", "/nowhere/x"}).code, 2);
}

TEST(PymemreportTest, UsageErrors) {
  TempFile file(SmallRun().Build());
  const struct {
    std::vector<std::string> arguments;
    const char* expected;
  } kCases[] = {
      {{}, "expected a command"},
      {{"summery", "x"}, "did you mean summary?"},
      {{"flame", "x"}, "'flame' is not built yet"},
      {{"top"}, "FILE"},
      {{"top", file.path(), "--limt", "3"}, "did you mean --limit?"},
      {{"top", file.path(), "--by", "module"}, "found 'module'"},
      {{"top", file.path(), "--csv", "--json"}, "one of --csv and --json"},
      {{"top", file.path(), "--limit", "few"}, "--limit"},
  };
  for (const auto& test : kCases) {
    const Printed printed = Report(test.arguments);
    EXPECT_EQ(printed.code, 2) << test.expected;
    EXPECT_THAT(printed.err, HasSubstr(test.expected));
  }
  EXPECT_EQ(Report({"--help"}).code, 0);
  EXPECT_EQ(Report({"--version"}).code, 0);
}

TEST(PymemreportTest, UnreadableFilesFail) {
  TempFile text("no run file");
  EXPECT_EQ(Report({"top", text.path()}).code, 1);
  EXPECT_EQ(Report({"summary", "/nowhere.pb"}).code, 1);
}

TEST(PymemreportTest, AMissingFooterIsNoFailure) {
  SmallRun run;
  run.with_footer = false;
  TempFile file(run.Build());
  const Printed printed = Report({"summary", file.path()});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr("no footer"));
}

}  // namespace
}  // namespace pymemrun
