#include "text/fitted_text.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

using ::testing::Le;
using ::testing::ResultOf;

TEST(CutPathTest, PathsKeepTheirEnd) {
  const char kPath[] = "/home/me/project/deep/job.py";
  EXPECT_EQ(CutPath(kPath, 40, true), kPath);
  EXPECT_EQ(CutPath(kPath, 15, true), "…/deep/job.py");
  EXPECT_EQ(CutPath(kPath, 15, false), "../deep/job.py");
  EXPECT_EQ(CutPath(kPath, 6, true), "…ob.py");
}

TEST(CutPathTest, NamesWithoutAFolderAreCutLikewise) {
  EXPECT_EQ(CutPath("<frozen importlib._bootstrap>", 12, true), "…_bootstrap>");
  EXPECT_EQ(CutPath("job.py", 4, false), "..py");
}

TEST(CutPathTest, AnyPathFitsAnyWidth) {
  for (const char* const path :
       {"/a/b/c.py", "c.py", "/", "a/", "\xc3\xa4/\xc3\xb6.py", "\xff\xff/x"}) {
    for (size_t columns = 1; columns < 12; ++columns) {
      const std::string cut = CutPath(TerminalText(path), columns, true);
      EXPECT_LE(ColumnsOf(cut), columns) << path;
    }
  }
}

TEST(CutLabelTest, TheNumberOfALineIsNeverCut) {
  EXPECT_EQ(CutLabel("/a/long/e_threads.py:16", 13, true), "…hreads.py:16");
  EXPECT_EQ(CutLabel("/a/long/e_threads.py:16 load", 23, true),
            "…/e_threads.py:16 load");
  EXPECT_EQ(CutLabel("/a/long/e_threads.py:16 load_all_rows", 24, true),
            "…hreads.py:16 load_all..");
  EXPECT_EQ(CutLabel("  load (/a/long/e_threads.py:16)", 27, false),
            "  load (../e_threads.py:16)");
  EXPECT_EQ(CutLabel("  load_all_rows (e_threads.py:16)", 24, true),
            "  load_a.. (…eads.py:16)");
  EXPECT_EQ(CutLabel("/a/long/job.py:7:", 9, true), "…job.py:7");
}

TEST(CutLabelTest, NorAreWaysAndThreads) {
  EXPECT_EQ(CutLabel("e_threads.py:33 to :34", 17, true), "…ads.py:33 to :34");
  EXPECT_EQ(CutLabel("a thread of a long name#313", 16, true),
            "a thread o..#313");
}

TEST(CutLabelTest, OthersAreCutAsTheyWere) {
  EXPECT_EQ(CutLabel("a/b/c_of_a_long_name", 9, true), "…ong_name");
  EXPECT_EQ(CutLabel("no_place_at_all", 9, true), "no_plac..");
  EXPECT_EQ(CutLabel("a:7b of no line", 9, true), "a:7b of..");
}

TEST(CutLabelTest, AnyLabelFits) {
  for (const char* const label :
       {"", "/a/b.py:7", "f (/a/b.py:7)", "f (b.py:1234567)", "(:7)", "x#7",
        ":7", "/:7 f", "\xc3\xa4/\xc3\xb6.py:7 g", "b.py:7 to :12", ":7(:8)"}) {
    for (size_t columns = 12; columns < 24; ++columns) {
      EXPECT_LE(ColumnsOf(CutLabel(label, columns, true)), columns) << label;
      EXPECT_THAT(CutLabel(std::string(40, 'x') + label, columns, true),
                  ResultOf(ColumnsOf, Le(columns)));
    }
  }
}

}  // namespace
}  // namespace pymemrun
