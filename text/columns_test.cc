#include "text/columns.h"

#include <string>

#include "gtest/gtest.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

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

}  // namespace
}  // namespace pymemrun
