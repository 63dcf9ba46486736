// The table `pages`, beside what `resident` has.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The lines of CSV behind the first.
std::vector<std::string> Lines(std::vector<std::string> words) {
  words.push_back("--csv");
  const Printed printed = Report(words);
  EXPECT_EQ(printed.code, 0) << printed.err;
  std::vector<std::string> lines = CsvLines(printed);
  lines.erase(lines.begin());
  return lines;
}

// The bytes of each name, the first column, but of rows that are no places.
std::map<std::string, int64_t> BytesOf(const std::vector<std::string>& lines) {
  std::map<std::string, int64_t> bytes;
  for (const std::string& line : lines) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    if (cells[0][0] != '<' && cells[0] != "unattributed") {
      bytes[cells[0]] += std::stoll(cells[1]);
    }
  }
  return bytes;
}

TEST(PagesTest, PagesSideBySideAreARow) {
  const TempFile file(PageEventsRun().Build());
  const std::string sql =
      "SELECT address, pages, bytes, before_tracing, inferred, own_line, "
      "thread, mapping, module FROM pages";
  EXPECT_THAT(
      Lines({"query", file.path(), sql}),
      ElementsAre("0x64000,20,81920,1,0,,,/usr/bin/python3.11,",
                  // 40 of them are gone when the kernel is asked.
                  "0x3e8000,40,163840,0,0,5,MainThread#4711,,"
                  "/usr/bin/python3.11",
                  "0x410000,10,40960,0,0,5,MainThread#4711,[heap],"
                  "/usr/bin/python3.11",
                  "0x7d0000,5,20480,0,1,6,worker#4712,,/usr/bin/python3.11",
                  "0x7d5000,25,102400,0,0,6,worker#4712,,"
                  "/usr/bin/python3.11"));
  EXPECT_THAT(Lines({"query", file.path(),
                     "SELECT pages, bytes, before_tracing, own_line FROM pages "
                     "WHERE address IS NULL",
                     "--at", "exit"}),
              ElementsAre("1,4096,0,"));
}

TEST(PagesTest, BytesAreThoseThatResidentHas) {
  PageEventsRun sampled;
  sampled.weight = 3;
  const TempFile all(PageEventsRun().Build()), some(sampled.Build());
  for (const std::string& path : {all.path(), some.path()}) {
    for (const std::string at : {"peak", "exit", "0.05", "0.3"}) {
      const auto resident = [&](const std::string& by) {
        return Lines({"resident", path, "--at", at, "--by", by});
      };
      const auto pages = [&](const std::string& select) {
        return Lines({"query", path, select, "--at", at});
      };
      int64_t bytes = 0;
      for (const std::string& line : resident("thread")) {
        const std::vector<std::string> cells = absl::StrSplit(line, ',');
        bytes += std::stoll(cells[1]);
      }
      EXPECT_THAT(pages("SELECT sum(bytes) FROM pages"),
                  ElementsAre(absl::StrCat(bytes)));
      EXPECT_EQ(BytesOf(resident("thread")),
                BytesOf(pages("SELECT thread, sum(bytes) FROM pages WHERE "
                              "thread IS NOT NULL GROUP BY 1")));
      EXPECT_EQ(BytesOf(resident("file")),
                BytesOf(pages("SELECT own_file, sum(bytes) FROM pages WHERE "
                              "own_file IS NOT NULL GROUP BY 1")));
    }
  }
}

// The kernel was never asked which pages these are.
TEST(PagesTest, WhatWasThereBeforeMayHaveNoAddress) {
  StringSink sink;
  RunBuilder builder(&sink);
  BeginPageRun(&builder, 10 * 4096);
  builder.AddMapping("/usr/bin/python3.11");
  builder.AddPages(CamePages(100, 1000, 2, 1));
  builder.AddProcess(200, 12 * 4096, 12 * 4096);
  builder.Flush();
  const TempFile file(sink.contents());
  EXPECT_THAT(Lines({"query", file.path(),
                     "SELECT address, bytes, before_tracing FROM pages"}),
              ElementsAre("0x3e8000,8192,0", ",40960,1"));
}

TEST(PagesTest, ARunWithoutPagesHasNone) {
  StringSink sink;
  RunBuilder builder(&sink);
  builder.AddHeader(RunBuilder::DefaultHeader());
  builder.AddProcess(200, 4096, 4096);
  builder.Flush();
  const TempFile file(sink.contents());
  EXPECT_THAT(Lines({"query", file.path(), "SELECT * FROM pages"}), IsEmpty());
  EXPECT_THAT(Report({"query", file.path(), "SELECT * FROM pages"}).err,
              HasSubstr("pages: has no page events"));
}

}  // namespace
}  // namespace pymemrun
