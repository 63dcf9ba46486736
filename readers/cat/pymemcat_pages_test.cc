// What pymemcat prints of page events.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

Printed CatPageRun(std::vector<std::string> arguments,
                   const std::string& run = PageEventsRun().Build()) {
  TempFile file(run);
  arguments.insert(arguments.begin(), file.path());
  const Printed printed = Cat(arguments);
  EXPECT_EQ(printed.code, 0) << printed.err;
  return printed;
}

TEST(PymemcatPagesTest, ArePrintedOnlyIfAskedFor) {
  EXPECT_THAT(CsvLines(CatPageRun({"--csv"})),
              ElementsAre("event,devent,clock_s,what,file,line,function,"
                          "rss_bytes,drss_bytes,thread,pid,context,module,"
                          "rss_exact,thread_drss_bytes"));
}

TEST(PymemcatPagesTest, AsCsv) {
  const auto lines = CsvLines(CatPageRun({"--csv", "--records", "pages"}));
  ASSERT_THAT(lines, SizeIs(1 + 81));
  EXPECT_THAT(lines[0],
              testing::EndsWith(",rss_exact,page_address,action,pages,moved_to,"
                                "inferred,instruction_module,weight,"
                                "thread_drss_bytes"));
  EXPECT_EQ(lines[1],
            ",,0.050000,PAGE,/job.py,5,load,,,MainThread#4711,4711,,mod,,"
            "0x3e8000,came,1,,false,/usr/bin/python3.11,1,");
  EXPECT_EQ(lines[51],
            ",,0.150000,PAGE,/job.py,6,load,,,worker#4712,4711,,mod,,"
            "0x7d0000,came,1,,true,/usr/bin/python3.11,1,");
  EXPECT_EQ(lines[81],
            ",,0.400000,PAGE,/job.py,9,<module>,,,MainThread#4711,4711,,mod,,"
            "0x3e8000,unmapped,40,,false,,,");
}

TEST(PymemcatPagesTest, EachThatCameHasItsWeight) {
  PageEventsRun sampled;
  sampled.weight = 8;
  const auto lines = CsvLines(CatPageRun(
      {"--csv", "--records", "pages", "--columns", "page_address,weight"},
      sampled.Build()));
  EXPECT_EQ(lines[1], "0x3e8000,8");
  EXPECT_EQ(lines[2], "0x3e9000,1");  // recorded in any case
  EXPECT_EQ(lines[81], "0x3e8000,");
}

TEST(PymemcatPagesTest, AsJsonLines) {
  const Printed printed = CatPageRun({"--jsonl", "--records", "calls,pages"});
  const auto json =
      nlohmann::json::parse(printed.out.substr(0, printed.out.find('\n')));
  EXPECT_EQ(json["what"], "PAGE");
  EXPECT_EQ(json["page_address"], "0x3e8000");
  EXPECT_EQ(json["inferred"], false);
  EXPECT_TRUE(json["event"].is_null());
  EXPECT_TRUE(json["moved_to"].is_null());
}

TEST(PymemcatPagesTest, AsText) {
  const std::string out = CatPageRun({"--records", "pages"}).out;
  EXPECT_THAT(out, HasSubstr(" Address        Action    Pages    Moved to"));
  EXPECT_THAT(out, HasSubstr("\nPAGE:                      0.050000     PAGE"));
  EXPECT_THAT(out, HasSubstr(" 0x3e8000       unmapped  40 "));
  EXPECT_THAT(out, HasSubstr(" Clock        Thread "));  // there are two
}

TEST(PymemcatPagesTest, AreFiltered) {
  const auto count = [](std::vector<std::string> options) {
    options.insert(options.end(),
                   {"--csv", "--no-header", "--records", "pages"});
    return CsvLines(CatPageRun(options)).size();
  };
  EXPECT_EQ(count({"--thread", "worker"}), 30u);
  EXPECT_EQ(count({"--function", "load"}), 80u);
  EXPECT_EQ(count({"--file", "*.c"}), 0u);
  EXPECT_EQ(count({"--from", "0.2"}), 1u);
  EXPECT_EQ(count({"--to", "0.05002"}), 3u);
  EXPECT_EQ(count({"--what", "call"}), 0u);
  EXPECT_EQ(count({"--what", "page"}), 81u);
}

TEST(PymemcatPagesTest, OfSeveralFilesAreMergedByTime) {
  TempFile first(PageEventsRun().Build()), second(PageEventsRun().Build());
  const Printed printed =
      Cat({first.path(), second.path(), "--csv", "--records", "pages",
           "--columns", "clock_s,action"});
  const auto lines = CsvLines(printed);
  ASSERT_THAT(lines, SizeIs(1 + 2 * 81));
  EXPECT_EQ(lines[1], "0.050000,came");
  EXPECT_EQ(lines[2], "0.050000,came");
  EXPECT_EQ(lines[162], "0.400000,unmapped");
  EXPECT_EQ(lines[161], "0.400000,unmapped");
}

TEST(PymemcatPagesTest, RowsHaveNothingInTheColumnsOfPages) {
  const auto lines =
      CsvLines(CatPageRun({"--csv", "--no-header", "--records", "calls,pages"},
                          SmallRun().Build()));
  ASSERT_THAT(lines, Not(IsEmpty()));
  EXPECT_THAT(lines[0], testing::EndsWith(",true,,,,,,,,"));
  const Printed json =
      CatPageRun({"--jsonl", "--records", "calls,pages"}, SmallRun().Build());
  EXPECT_THAT(json.out, HasSubstr("\"rss_exact\":true,\"page_address\":null,"
                                  "\"action\":null,"));
  EXPECT_THAT(json.out, StartsWith("{"));
}

TEST(PymemcatPagesTest, RawTakesNoRecords) {
  TempFile file(PageEventsRun().Build());
  EXPECT_EQ(Cat({file.path(), "--raw", "--records", "calls,marks,pages"}).code,
            2);
}

TEST(PymemcatPagesTest, MovedPagesSayWhereTo) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddThread("MainThread", 1);
  builder.AddStack(0, builder.AddCode("/job.py", "f", 1), 2);
  builder.AddPages({RangeEntry(5, PAGES_MOVED, 16, 4, 32)});
  builder.Flush();
  const auto lines = CsvLines(
      CatPageRun({"--csv", "--no-header", "--records", "pages", "--columns",
                  "action,page_address,moved_to,pages,stack"},
                 sink.contents()));
  EXPECT_THAT(lines, ElementsAre("moved,0x10000,0x20000,4,/job.py:2:f"));
}

}  // namespace
}  // namespace pymemrun
