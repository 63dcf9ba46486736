#include "readers/report/pymemreport.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/run/own_code.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

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

TEST(PymemreportTest, WithoutWordsItReadsWhatPymemrunWrites) {
  char folder[] = "/tmp/pymemreport.XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const Printed nothing = Report({});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("expected a command"));
  TempFile file(SmallRun().Build());
  std::filesystem::copy_file(file.path(), "run.pb");
  const Printed printed = Report({});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out, Report({"report", "run.pb"}).out);
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

TEST(PymemreportTest, APictureIsForAllAndMayBeAPage) {
  TempFile file(SmallRun().Build());
  for (const std::string name : {".html", ".svg"}) {
    const std::string path = file.path() + name;
    const Printed printed = Report({"graph", file.path(), "-o", path});
    EXPECT_EQ(printed.code, 0) << printed.err;
    EXPECT_EQ(printed.err, "");
    std::ifstream picture(path);
    const std::string text((std::istreambuf_iterator<char>(picture)), {});
    const bool is_page = name == ".html";
    EXPECT_EQ(absl::StartsWith(text, "<!DOCTYPE html>"), is_page);
    EXPECT_EQ(absl::StartsWith(text, "<?xml"), !is_page);
    EXPECT_EQ(absl::EndsWith(text, "</svg>\n</body></html>\n"), is_page);
    struct stat info;
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    const mode_t mask = umask(0);
    umask(mask);
    EXPECT_EQ(info.st_mode & 07777, 0666u & ~mask);
    std::filesystem::remove(path);
  }
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
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0],
            "RSS grew while these lines ran; pymemreport heap shows which "
            "lines hold memory");
  EXPECT_THAT(lines[1], HasSubstr("growth"));
  EXPECT_THAT(lines[2],
              testing::AllOf(HasSubstr("4.0 MiB"), HasSubstr("80.0 %"),
                             HasSubstr("/job.py")));
  EXPECT_THAT(lines[3], HasSubstr("tracing itself"));
  EXPECT_EQ(lines[4], "1 more place not shown (--limit)");
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

TEST(PymemreportTest, SummaryAsCsvIsOneRowForEachFile) {
  TempFile a(SmallRun().Build()), b(SmallRun().Build());
  const Printed printed =
      Report({"summary", a.path(), "/nowhere.pb", b.path(), "--csv"});
  EXPECT_EQ(printed.code, 1);
  const std::vector<std::string> lines = absl::StrSplit(printed.out, "\r\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], StartsWith("run_file,command,started,pid,"));
  EXPECT_THAT(lines[1], StartsWith(a.path() + ",python3 job.py,2023-11-14T"));
  EXPECT_THAT(lines[2], StartsWith(b.path() + ","));
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), ','),
            std::count(lines[1].begin(), lines[1].end(), ','));
}

TEST(PymemreportTest, SummaryAsJsonIsAnArrayWithAnObjectForEachFile) {
  TempFile file(SmallRun().Build());
  const auto json = nlohmann::json::parse(
      Report({"summary", file.path(), file.path(), "--json"}).out);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[1]["end"], "exit");
  EXPECT_EQ(json[1]["exit_status"], 3);
  EXPECT_EQ(json[1]["highest_rss_bytes"], 13 << 20);
  EXPECT_TRUE(json[1]["signal"].is_null());
}

TEST(PymemreportTest, SummaryListsAsManyPlacesAsAskedFor) {
  TempFile file(SmallRun().Build());
  EXPECT_THAT(Report({"summary", file.path(), "--limit", "1"}).out,
              Not(HasSubstr("100.0 %")));
  const std::string one = Report({"summary", file.path(), "--limit", "1"}).out;
  const std::string all = Report({"summary", file.path(), "--limit", "0"}).out;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'),
            std::count(one.begin(), one.end(), '\n') + 1);
}

TEST(PymemreportTest, SeveralSummariesAreToldApart) {
  TempFile a(SmallRun().Build()), b(SmallRun().Build());
  const Printed printed = Report({"summary", a.path(), b.path()});
  EXPECT_THAT(printed.out, StartsWith(a.path() + "\ncommand "));
  EXPECT_THAT(printed.out, HasSubstr("\n\n" + b.path() + "\ncommand "));
}

TEST(PymemreportTest, TheHeaderSaysWhoseFunctionsAreMeant) {
  TempFile file(SmallRun().Build());
  EXPECT_THAT(Report({"top", file.path()}).out,
              MatchesRegex(".*\n *line .* file +Python function\n.*"));
  EXPECT_THAT(Report({"top", file.path(), "--by", "function"}).out,
              MatchesRegex(".*\n *first line .* file +Python function\n.*"));
}

TEST(PymemreportTest, HelpIsACommandToo) {
  const Printed help = Report({"help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.out, Report({"--help"}).out);
}

TEST(PymemreportTest, UsageErrors) {
  TempFile file(SmallRun().Build());
  const struct {
    std::vector<std::string> arguments;
    const char* expected;
  } kCases[] = {
      {{"summery", "x"}, "did you mean summary?"},
      {{"top"}, "FILE"},
      {{"top", file.path(), "--limt", "3"}, "did you mean --limit?"},
      {{"top", file.path(), "--by", "module"}, "found 'module'"},
      {{"top", file.path(), "--csv", "--json"}, "--csv does not go with"},
      {{"top", file.path(), "--limit", "few"}, "--limit"},
      {{"summary", file.path(), "--limit", "-1"},
       "--limit: expected a number from 0 on, found '-1'"},
      {{"summary", file.path(), "--limit", ""}, "--limit: expected a value"},
      {{"top", file.path(), "-o", ""}, "--output: expected a value"},
      {{"top", ""}, "FILE: expected a value, found ''"},
      {{"summary", file.path(), "--by", "file"},
       "--by: summary groups its rows"},
      {{"top", "-", "-"}, "once only"},
      {{"--brief"}, "FILE"},
      {{"-v"}, "unknown option '-v'"},
      {{"top", "-v", file.path()}, "unknown option '-v'"},
      {{"--breif", file.path()}, "did you mean --brief?"},
      {{"--csv", "top", file.path()},
       "expected the command top first, found '--csv'"},
      {{"--json", "heap", file.path()},
       "expected the command heap first, found '--json'"},
  };
  for (const auto& test : kCases) {
    const Printed printed = Report(test.arguments);
    EXPECT_EQ(printed.code, 2) << test.expected;
    EXPECT_THAT(printed.err, HasSubstr(test.expected));
  }
  EXPECT_EQ(Report({"--help"}).code, 0);
  EXPECT_EQ(Report({"--version"}).code, 0);
}

TEST(PymemreportTest, OptionsOfTheAnswerMayComeBeforeTheFile) {
  TempFile file(SmallRun().Build());
  const std::string brief = Report({"report", "--brief", file.path()}).out;
  EXPECT_EQ(Report({"--brief", file.path()}).out, brief);
  EXPECT_EQ(Report({file.path(), "--brief"}).out, brief);
  // A command's name may be a value.
  EXPECT_EQ(Report({"--own", "report", "--brief", file.path()}).code, 0);
  OwnCode::SetPatterns({});
}

TEST(PymemreportTest, ThatNoFileIsTheUsersIsSaid) {
  TempFile file(SmallRun().Build());
  for (const char* const command : {"report", "top"}) {
    const Printed none = Report({command, file.path(), "--own", "nobody.py"});
    EXPECT_EQ(none.code, 0);
    EXPECT_EQ(none.err,
              "pymemreport: --own: no file of the run matches: all lines count "
              "as library code\n");
    EXPECT_EQ(Report({command, file.path(), "--own", "job.py"}).err, "");
  }
  OwnCode::SetPatterns({});
}

TEST(PymemreportTest, UnreadableFilesFail) {
  TempFile text("no run file");
  const Printed printed = Report({"top", text.path()});
  EXPECT_EQ(printed.code, 1);
  EXPECT_EQ(printed.err, absl::StrCat("pymemreport: ", text.path(),
                                      ": not a pymemrun run file: found a text "
                                      "file\n"));
  EXPECT_EQ(Report({"summary", "/nowhere.pb"}).code, 1);
}

TEST(PymemreportTest, TopOfARunWithoutCallsSaysSo) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_calls_off(true);
  builder.AddHeader(header);
  builder.Flush();
  TempFile file(sink.contents());
  const Printed printed = Report({"top", file.path()});
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_THAT(printed.err, HasSubstr(": has no calls: record them"));
}

TEST(PymemreportTest, AMissingFooterIsNoFailure) {
  SmallRun run;
  run.with_footer = false;
  TempFile file(run.Build());
  const Printed printed = Report({"summary", file.path()});
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.err, HasSubstr("no footer"));
}

TEST(PymemreportTest, TopOfOneThread) {
  TempFile file(SmallRun().Build());
  const Printed printed =
      Report({"top", file.path(), "--csv", "--thread", "worker"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  EXPECT_EQ(printed.out,
            "file,line,function,growth_bytes,shrinkage_bytes,net_bytes,rows,"
            "share\r\n"
            "/job.py,5,work,0,1048576,-1048576,1,0.000000\r\n"
            "<other threads>,,,5242880,0,5242880,2,1.000000\r\n"
            "tracing itself,,,1067008,0,1067008,0,\r\n");
  EXPECT_THAT(Report({"summary", file.path(), "--thread", "4712"}).out,
              HasSubstr("<other threads>"));
}

TEST(PymemreportTest, AThreadThatTheRunHasNot) {
  TempFile file(SmallRun().Build());
  for (const char* const command : {"top", "summary"}) {
    const Printed printed = Report({command, file.path(), "--thread", "x"});
    EXPECT_EQ(printed.code, 2);
    EXPECT_EQ(printed.out, "");
    EXPECT_THAT(printed.err,
                HasSubstr(": --thread: expected MainThread#4711, worker#4712, "
                          "found 'x'\n"));
  }
  const Printed values =
      Report({"summary", file.path(), "--thread", "worker", "--json"});
  EXPECT_EQ(values.code, 2);
  EXPECT_THAT(values.err, HasSubstr("--json does not go with --thread worker"));
}

TEST(PymemreportTest, WhatIsWrongIsSaidBeforeAnythingIsPrinted) {
  TempFile file(SmallRun().Build());
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--sort", "foo"},
        {"--by", "thread", "--file", "*.py"},
        {"--thread", "nobody"}}) {
    std::vector<std::string> arguments = {"top", file.path()};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const Printed printed = Report(arguments);
    EXPECT_EQ(printed.code, 2) << wrong[0];
    EXPECT_EQ(printed.out, "") << wrong[0];
    EXPECT_NE(printed.err, "") << wrong[0];
  }
}

}  // namespace
}  // namespace pymemrun
