#include <string>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/places/place_tree.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

// main calls load, which has 60 MiB itself and calls parse, and save. A second
// root has 1 MiB.
class TreeTextTest : public ::testing::Test {
 protected:
  TreeTextTest() {
    constexpr double kMiB = 1 << 20;
    const uint32_t main = tree_.Child(0, {"/src/app.py", 9, "<module>"});
    const uint32_t load = tree_.Child(main, {"/src/app.py", 3, "load"});
    tree_.Add(load, 60 * kMiB, 1);
    tree_.Add(tree_.Child(load, {kParser, 77, "parse"}), 20 * kMiB, 1);
    tree_.Add(tree_.Child(main, {"/src/app.py", 5, "save"}), 19 * kMiB, 1);
    tree_.Add(tree_.Child(0, {{}, 0, "<native thread>"}), 1 * kMiB, 1);
    tree_.SumUp();
    terminal_.columns = 60;
    terminal_.folder = "/src";
  }
  static constexpr char kParser[] =
      "/usr/lib/python3/dist-packages/pandas/io/parsers/readers.py";

  RunIndex index_;
  PlaceTree tree_{GroupBy::kLine, &index_};
  Terminal terminal_;
};

TEST_F(TreeTextTest, EachFrameIsBelowItsCaller) {
  EXPECT_EQ(TreeText(tree_, 0, terminal_),
            "   99 MiB  99 %  ▼ <module>  app.py:9\n"
            "   80 MiB  80 %  ├ ▼ load  app.py:3\n"
            "   20 MiB  20 %  │ └ • parse  …/io/parsers/readers.py:77\n"
            "   19 MiB  19 %  └ • save  app.py:5\n"
            "  1.0 MiB   1 %  • <native thread>\n");
}

TEST_F(TreeTextTest, WhatIsNotShownIsClosed) {
  EXPECT_EQ(TreeText(tree_, 2, terminal_),
            "   99 MiB  99 %  ▼ <module>  app.py:9\n"
            "   80 MiB  80 %  └ ▶ load  app.py:3\n");
}

TEST_F(TreeTextTest, PlainCharactersWhereOthersAreNotTaken) {
  terminal_.unicode = false;
  EXPECT_THAT(TreeText(tree_, 3, terminal_),
              HasSubstr("   80 MiB  80 %  `-v load  app.py:3\n"
                        "   20 MiB  20 %    `-- parse  "));
}

TEST_F(TreeTextTest, ForProgramsPathsAreWhole) {
  EXPECT_THAT(TreeText(tree_, 0, Terminal()),
              HasSubstr(std::string("parse  ") + kParser + ":77\n"));
}

TEST_F(TreeTextTest, NamesAreMadeHarmlessAndFit) {
  PlaceTree tree(GroupBy::kLine, &index_);
  const std::string name = "\x1b[31m" + std::string(200, 'n');
  tree.Add(tree.Child(0, {kParser, 1, name}), 100, 1);
  tree.SumUp();
  terminal_.columns = 40;
  const std::string text = TreeText(tree, 0, terminal_);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LE(ColumnsOf(text.substr(0, text.find('\n'))), 40u) << text;
}

// Each with a function, a path and a line that are longer than there is room.
TEST_F(TreeTextTest, DeepTreesFitNarrowTerminals) {
  PlaceTree tree(GroupBy::kLine, &index_);
  uint32_t at = 0;
  for (uint32_t line = 1; line <= 1000000000; line *= 10) {
    at = tree.Child(at, {kParser, line, "read_the_whole_file"});
    tree.Add(at, 1000, 1);
  }
  tree.SumUp();
  for (size_t columns = 40; columns <= 80; ++columns) {
    terminal_.columns = columns;
    const std::string text = TreeText(tree, 0, terminal_);
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(ColumnsOf(line), columns) << line;
    }
  }
  terminal_.columns = 40;
  EXPECT_THAT(TreeText(tree, 0, terminal_),
              HasSubstr(" KiB  ▼ read_the_..  …/readers.py:1\n"));
}

TEST_F(TreeTextTest, FilesWithoutAFolderAreCutToo) {
  PlaceTree tree(GroupBy::kLine, &index_);
  tree.Add(tree.Child(0, {"<frozen importlib._bootstrap_external>", 1234,
                          "get_code_of_a_module"}),
           1000, 1);
  tree.SumUp();
  terminal_.columns = 40;
  EXPECT_EQ(TreeText(tree, 0, terminal_),
            "  1.0 KiB  • get_c..  …ap_external>:1234\n");
}

}  // namespace
}  // namespace pymemrun
