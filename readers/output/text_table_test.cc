#include "readers/output/text_table.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Table Places() {
  Table table;
  table.headings = {{"file", "file", CellLook::kName},
                    {"line", "line"},
                    {"function", "Python function", CellLook::kName},
                    {"live_bytes", "live", CellLook::kBytes},
                    {"live_count", "blocks"},
                    {"share", "share", CellLook::kShare},
                    {"mapped_bytes", "mapped", CellLook::kBytes}};
  table.rows = {
      {"/home/me/project/deep/job.py", uint64_t{7}, "load", uint64_t{5 << 20},
       uint64_t{12}, 0.75, Cell()},
      {"/usr/lib/python3/dist-packages/pandas/io/parsers/readers.py",
       uint64_t{1234}, "read_csv_of_a_long_name", uint64_t{1 << 20},
       uint64_t{3}, 0.25, Cell()},
      {"/opt/one/two/three.py", uint64_t{1}, "f", uint64_t{0}, uint64_t{0}, 0.0,
       Cell()},
      {"", Cell(), "<interpreter>", uint64_t{1}, uint64_t{1}, 0.0, Cell()},
      {"<before tracing>", Cell(), Cell(), uint64_t{1}, uint64_t{1}, Cell(),
       Cell()}};
  return table;
}

std::string Printed(const Table& table, const Terminal& terminal) {
  StringSink sink;
  OutputBuffer output(&sink, terminal);
  PrintTextTable(table, &output);
  EXPECT_TRUE(output.Flush().ok());
  return sink.contents();
}

Terminal Narrow(size_t columns) {
  Terminal terminal;
  terminal.columns = columns;
  terminal.folder = "/home/me/project";
  return terminal;
}

TEST(TextTableTest, WithoutATerminalNothingIsCut) {
  const std::string text = Printed(Places(), {});
  EXPECT_THAT(text, HasSubstr("  /usr/lib/python3/dist-packages/pandas/io/"
                              "parsers/readers.py  read_csv_of_a_long_name\n"));
  EXPECT_THAT(text, HasSubstr("  mapped  "));
  EXPECT_THAT(text, HasSubstr("Python function\n"));
}

TEST(TextTableTest, EachWidthHoldsIt) {
  for (size_t columns = Terminal::kFewestColumns; columns < 140; ++columns) {
    const std::string text = Printed(Places(), Narrow(columns));
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
    EXPECT_THAT(text, HasSubstr("5.0 MiB"));
    EXPECT_THAT(text, HasSubstr("job.py"));
    EXPECT_THAT(text, HasSubstr("<interp"));
  }
}

TEST(TextTableTest, PathsAreAsShortAsPeopleWriteThem) {
  const std::string text = Printed(Places(), Narrow(100));
  EXPECT_THAT(text, HasSubstr("  deep/job.py "));
  EXPECT_THAT(text, HasSubstr("  pandas/io/parsers/readers.py "));
  EXPECT_THAT(text, HasSubstr("  …/two/three.py "));
  EXPECT_THAT(text, HasSubstr("  <before tracing> "));
}

TEST(TextTableTest, ColumnsThatSayNothingGoFirst) {
  const std::string text = Printed(Places(), Narrow(80));
  EXPECT_THAT(text, Not(HasSubstr("mapped")));
  EXPECT_THAT(text, HasSubstr("blocks"));
  EXPECT_THAT(Printed(Places(), Narrow(40)), Not(HasSubstr("blocks")));
}

TEST(TextTableTest, WhatHasNoFileHasItsNameThere) {
  for (const size_t columns : {50, 80}) {
    EXPECT_THAT(Printed(Places(), Narrow(columns)),
                HasSubstr("  <interpreter>"))
        << columns;
  }
}

TEST(TextTableTest, BarsShowSharesWhereThereIsRoom) {
  Table table;
  table.headings = {{"share", "share", CellLook::kShare},
                    {"thread", "thread", CellLook::kName}};
  table.rows = {{0.5, "a"}, {Cell(), "b"}};
  Terminal terminal = Narrow(31);
  EXPECT_EQ(Printed(table, terminal),
            " share                   thread\n"
            "50.0 %  ███████▌         a\n"
            "     -                   b\n");
  terminal.unicode = false;
  terminal.colors = true;
  EXPECT_THAT(Printed(table, terminal),
              HasSubstr("\x1b[0m\n50.0 %  \x1b[36m########\x1b[0m  "));
  EXPECT_THAT(Printed(table, {}), HasSubstr("50.0 %  a\n"));
}

// A thread's states: shares that are 0 everywhere say nothing.
TEST(TextTableTest, WhatRowsAreToldApartByComesFirstAndIsWhole) {
  Table table;
  table.headings = {{"runs", "runs", CellLook::kShare},
                    {"lock", "lock", CellLook::kShare},
                    {"sleep", "sleep", CellLook::kShare},
                    {"thread", "thread", CellLook::kKey}};
  table.rows = {{0.5, 0.0, 0.5, "crunch-1#12"}, {0.25, 0.0, 0.75, "crunch-2"}};
  EXPECT_EQ(Printed(table, Narrow(30)),
            "thread         runs   sleep\n"
            "crunch-1#12  50.0 %  50.0 %\n"
            "crunch-2     25.0 %  75.0 %\n");
}

TEST(TextTableTest, FramesKeepTheirFiles) {
  Table table;
  table.headings = {{"live_bytes", "live", CellLook::kBytes},
                    {"frame", "frame", CellLook::kName}};
  table.rows = {
      {uint64_t{1}, "  load (/home/me/project/job.py:7)"},
      {uint64_t{1}, "  load (/one/two/three/folder/a_long_job.py:7)"}};
  EXPECT_EQ(Printed(table, Narrow(40)),
            "  live  frame\n"
            "1 byte    load (job.py:7)\n"
            "1 byte    load (a_long_job.py:7)\n");
}

TEST(TextTableTest, NumbersOfLinesAndThreadsAreWholeAtAnyWidth) {
  Table table;
  table.headings = {{"growth_bytes", "growth", CellLook::kBytes},
                    {"shrinkage_bytes", "shrinkage", CellLook::kBytes},
                    {"thread", "thread", CellLook::kName},
                    {"top_line", "most at", CellLook::kName}};
  table.rows = {{uint64_t{1}, uint64_t{2}, "a_pool_of_threads#3141",
                 "/one/two/e_threads.py:16 a_function_of_a_long_name"},
                {uint64_t{1}, uint64_t{2}, "a_pool_of_threads#3142",
                 "/one/two/e_threads.py:1 a_function_of_a_long_name"}};
  Table frames;
  frames.headings = {{"live_bytes", "live", CellLook::kBytes},
                     {"frame", "frame", CellLook::kName}};
  for (int depth = 0; depth < 60; ++depth) {
    frames.rows.push_back(
        {uint64_t{1},
         std::string(2 * depth, ' ') +
             "function_of_a_long_name (/one/two/e_threads.py:161)"});
  }
  for (size_t columns = 50; columns < 120; ++columns) {
    const std::string text = Printed(table, Narrow(columns));
    for (const char* const number : {":16", ":1", "#3141", "#3142"}) {
      EXPECT_THAT(text, ContainsRegex(std::string(number) + "[ \n]"))
          << columns;
    }
    const std::string tree = Printed(frames, Narrow(columns));
    for (const absl::string_view line : absl::StrSplit(tree, '\n')) {
      EXPECT_LE(ColumnsOf(line), columns);
      EXPECT_THAT(line,
                  AnyOf(IsEmpty(), HasSubstr("frame"), HasSubstr(":161)")));
    }
  }
}

TEST(TextTableTest, InOrderNoColumnMovesOrGoes) {
  Table table;
  table.headings = {{"type", "type", CellLook::kName},
                    {"n", "n"},
                    {"value", "value", CellLook::kName},
                    {"nothing", "nothing"}};
  table.rows = {{"a.type.of.a.long.name", uint64_t{12}, "text of some length",
                 uint64_t{0}},
                {"dict", Cell(), "x", Cell()}};
  const auto printed = [&table](const Terminal& terminal) {
    StringSink sink;
    OutputBuffer output(&sink, terminal);
    PrintTextTableInOrder(table, &output);
    EXPECT_TRUE(output.Flush().ok());
    return sink.contents();
  };
  EXPECT_EQ(printed({}),
            "type                    n  value                nothing\n"
            "a.type.of.a.long.name  12  text of some length        0\n"
            "dict                    -  x                          -\n");
  EXPECT_EQ(printed(Narrow(40)),
            "type           n  value          nothing\n"
            "a.type.of...  12  text of som..        0\n"
            "dict           -  x                    -\n");
  EXPECT_EQ(printed(Narrow(20)),
            "type               n\n"
            "a.type.of.a.lo..  12\n"
            "dict               -\n\n"
            "without room: value,\n  nothing\n");
}

}  // namespace
}  // namespace pymemrun
