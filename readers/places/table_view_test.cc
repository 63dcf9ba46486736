// --sort, --file, --exclude and --thread of the commands that list places.
#include "readers/places/table_view.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "readers/testing/heap_run_for_tests.h"
#include "readers/testing/page_run_for_tests.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/small_run_for_tests.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

Printed Of(const std::string& run, const std::string& command,
           std::vector<std::string> options) {
  TempFile file(run);
  options.insert(options.begin(), {command, file.path()});
  return Report(options);
}

// The first cells of the rows, as CSV has them.
std::vector<std::string> Rows(const Printed& printed, size_t cells) {
  EXPECT_EQ(printed.code, 0) << printed.err;
  std::vector<std::string> rows;
  const std::vector<std::string> lines = CsvLines(printed);
  for (size_t i = 1; i < lines.size(); ++i) {
    std::vector<std::string> row = absl::StrSplit(lines[i], ',');
    row.resize(cells);
    rows.push_back(absl::StrJoin(row, ","));
  }
  return rows;
}

using Lines = std::vector<std::string>;

TEST(TableViewTest, SortsByAnyColumn) {
  const std::string run = HeapRun().Build();
  EXPECT_EQ(Rows(Of(run, "heap", {"--csv", "--sort", "live_count"}), 2)[0],
            "/job.py,5");
  EXPECT_EQ(
      Rows(Of(run, "heap", {"--csv", "--sort", "line"}), 2),
      (Lines{"/job.py,5", "/job.py,6", "<frozen importlib._bootstrap>,101", ",",
             "<tracing itself>,"}));
  for (const char* const sort : {"file", "file:desc", "line", "line:desc"}) {
    const Lines rows = Rows(Of(run, "heap", {"--csv", "--sort", sort}), 2);
    EXPECT_NE(rows[0], ",") << sort;
    EXPECT_EQ(rows[3], ",") << sort;  // tracing's own is no place
  }
  EXPECT_EQ(Of(run, "heap", {"--csv", "--sort", ":desc"}).code, 2);
  const Printed wrong = Of(run, "heap", {"--csv", "--sort", "weight"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_THAT(
      wrong.err,
      HasSubstr("--sort: expected file, line, function, "
                "live, live_count, share, or one with :asc or :desc, found "
                "'weight'"));
}

TEST(TableViewTest, WhatIsNotListedIsSummedUp) {
  const std::string run = HeapRun().Build();
  EXPECT_EQ(
      Rows(Of(run, "heap", {"--csv", "--sort", "live_count", "--limit", "1"}),
           6),
      (Lines{"/job.py,5,load,1000,10,0.163399",
             "<other places>,,,5120,7,0.836601", "<tracing itself>,,,400,1,"}));
  // As without a view.
  EXPECT_EQ(Of(run, "heap", {"--csv", "--sort", "live", "--limit", "1"}).out,
            Of(run, "heap", {"--csv", "--limit", "1"}).out);
  HeapRun sampled;
  sampled.mode = HEAP_SAMPLED;
  sampled.mean_bytes = 1000;
  const auto view = nlohmann::json::parse(
      Of(sampled.Build(), "heap", {"--json", "--sort", "live", "--limit", "1"})
          .out);
  const auto usual = nlohmann::json::parse(
      Of(sampled.Build(), "heap", {"--json", "--limit", "1"}).out);
  ASSERT_EQ(view.size(), usual.size());
  for (const auto& [name, value] : usual[1].items()) {
    if (!value.is_number()) continue;
    EXPECT_NEAR(view[1][name].get<double>(), value.get<double>(), 2) << name;
  }
}

TEST(TableViewTest, ListsFilesThatMatch) {
  const std::string run = HeapRun().Build();
  const std::string others = "<other places>,,";
  EXPECT_EQ(Rows(Of(run, "heap", {"--csv", "--file", "job.py"}), 3),
            (Lines{"/job.py,6,load", "/job.py,5,load", others,
                   "<tracing itself>,,"}));
  EXPECT_EQ(Rows(Of(run, "heap",
                    {"--csv", "--exclude", "*.py", "--exclude", "<frozen*"}),
                 3),
            (Lines{",,<interpreter>", others, "<tracing itself>,,"}));
  const Printed wrong =
      Of(run, "heap", {"--file", "job.py", "--by", "thread", "--csv"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--file job.py needs --by line, "));
  EXPECT_THAT(Of(run, "heap", {"--file", "job.py", "--stacks"}).err,
              HasSubstr("--file job.py does not go with --stacks"));
}

TEST(TableViewTest, ResidentRowsStillAddUpToRss) {
  const std::string run = PageEventsRun().Build();
  EXPECT_EQ(
      Rows(Of(run, "resident", {"--csv", "--sort", "inferred", "--limit", "1"}),
           4),
      (Lines{"/job.py,6,load,122880", "<other places>,,,204800",
             "<before tracing>,,,81920", "unattributed,,,0"}));
  EXPECT_EQ(Rows(Of(run, "resident", {"--csv", "--file", "none.py"}), 4),
            (Lines{"<other places>,,,327680", "<before tracing>,,,81920",
                   "unattributed,,,0"}));
}

TEST(TableViewTest, TopListsWithoutARest) {
  EXPECT_EQ(Rows(Of(SmallRun().Build(), "top",
                    {"--csv", "--sort", "rows", "--limit", "1"}),
                 2),
            (Lines{"/job.py,5", "tracing itself,"}));
}

TEST(TableViewTest, OneThreadAlone) {
  const std::string run = HeapRun().Build();
  for (const char* thread : {"worker", "w*", "4712", "worker#4712"}) {
    EXPECT_EQ(Rows(Of(run, "heap", {"--csv", "--thread", thread}), 4),
              (Lines{"/job.py,6,load,5000", "<other threads>,,,1120",
                     "<tracing itself>,,,400"}));
  }
  EXPECT_THAT(Of(run, "heap", {"--stacks", "--thread", "worker"}).out,
              HasSubstr("load (/job.py:6)"));
  EXPECT_EQ(Of(run, "heap", {"--thread", "worker", "--leaks"}).code, 2);
}

TEST(TableViewTest, BothOrders) {
  const std::string run = HeapRun().Build();
  const auto sorted = [&run](const std::string& by) {
    return Rows(Of(run, "heap", {"--csv", "--sort", by}), 2)[0];
  };
  EXPECT_EQ(sorted("live:desc"), sorted("live"));
  EXPECT_EQ(sorted("live:asc"), ",");
  EXPECT_EQ(sorted("file:desc"), "<frozen importlib._bootstrap>,101");
  const Printed wrong = Of(run, "heap", {"--csv", "--sort", "size:asc"});
  EXPECT_THAT(wrong.err, HasSubstr("found 'size:asc'"));
}

TEST(TableViewTest, NamesRiseAndFiguresFall) {
  const auto sorted = [](const std::string& by) {
    Table table;
    table.headings = {{"task"}, {"steps"}};
    table.rows = {{"b", uint64_t{2}}, {Cell(), uint64_t{1}}, {"a", Cell()}};
    table.places = table.rows.size();
    TableView view;
    view.sort = by;
    EXPECT_TRUE(view.Apply(0, /*folds=*/false, &table).ok());
    return table.rows;
  };
  EXPECT_EQ(std::get<std::string>(sorted("task")[0][0]), "a");
  EXPECT_EQ(std::get<std::string>(sorted("task:desc")[0][0]), "b");
  EXPECT_EQ(std::get<uint64_t>(sorted("steps")[0][1]), 2);
  EXPECT_EQ(std::get<uint64_t>(sorted("steps:asc")[0][1]), 1);
}

TEST(TableViewTest, ListsFunctionsThatMatch) {
  const std::string run = HeapRun().Build();
  const std::string others = "<other places>,,";
  EXPECT_EQ(Rows(Of(run, "heap", {"--csv", "--function", "lo?d"}), 3),
            (Lines{"/job.py,6,load", "/job.py,5,load", others,
                   "<tracing itself>,,"}));
  EXPECT_EQ(Rows(Of(run, "heap",
                    {"--csv", "--function", "load", "--exclude", "job.py"}),
                 3),
            (Lines{others, "<tracing itself>,,"}));
  const std::string needs =
      "--function load needs --by line, library-line or function";
  EXPECT_THAT(Of(run, "heap", {"--function", "load", "--by", "file"}).err,
              HasSubstr(needs));
  EXPECT_THAT(Of(run, "timeline",
                 {"--of", "heap", "--function", "load", "--by", "file"})
                  .err,
              HasSubstr(needs));
}

TEST(TableViewTest, PackagesAreOfTheInnermostLine) {
  const std::string run = HeapRun().Build();
  EXPECT_EQ(Rows(Of(run, "heap", {"--csv", "--by", "package"}), 2),
            (Lines{"<your code>,6000", "importlib,70", "<interpreter>,50",
                   "<tracing itself>,400"}));
  EXPECT_EQ(Of(run, "heap", {"--by", "package", "--file", "job.py"}).code, 2);
}

TEST(TableViewTest, AColumnsNameComesBeforeATitle) {
  Table table;
  table.headings = {{"waiting_share", "waits"}, {"waits", "waits"}};
  table.rows = {{0.9, uint64_t{1}}, {0.1, uint64_t{7}}};
  table.places = 2;
  TableView view;
  view.sort = "waits";
  EXPECT_TRUE(view.Apply(0, /*folds=*/false, &table).ok());
  EXPECT_EQ(table.rows[0][1], Cell(uint64_t{7}));
  view.sort = "waiting";
  EXPECT_TRUE(view.Apply(0, /*folds=*/false, &table).ok());
  EXPECT_EQ(table.rows[0][1], Cell(uint64_t{1}));
}

TEST(TableViewTest, AFilterThatLeavesNothingSaysWhereMoreIs) {
  const std::string run = HeapRun().Build();
  EXPECT_EQ(Of(run, "heap", {"--file", "nosuch"}).err,
            "pymemreport: --file 'nosuch' leaves no place; --by library-line "
            "lists those of libraries, too\n");
}

TEST(TableViewTest, EachPatternThatLeavesNothingIsNamed) {
  TableView view;
  view.files = {"a.py", "b\n"};
  view.tasks = {"c"};
  EXPECT_EQ(view.LeavesNone(),
            "--file 'a.py' and --file 'b\\x0a' and --task 'c' leave no ");
}

TEST(TableViewTest, AColumnThatIsNotPrintedIsRefused) {
  Table table;
  table.headings = {{"waits", ""}, {"runs", ""}};
  table.rows = {{uint64_t{1}, Cell()}, {uint64_t{2}, Cell()}};
  table.places = 2;
  TableView view;
  view.sort = "runs:desc";
  EXPECT_TRUE(view.Apply(0, /*folds=*/false, &table).ok());
  view.drops_empty = true;
  EXPECT_EQ(view.Apply(0, /*folds=*/false, &table).message(),
            "--sort: expected waits, or one with :asc or :desc, found "
            "'runs:desc'");
}

}  // namespace
}  // namespace pymemrun
