#include "readers/cat/row_filter.h"

#include <string>

#include "gtest/gtest.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

TEST(GlobTest, MatchesAsFnmatchDoes) {
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("*.py", "/a/b/c.py"));
  EXPECT_TRUE(GlobMatches("/a/*c*", "/a/b/c.py"));
  EXPECT_FALSE(GlobMatches("*.py", "c.pyc"));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_FALSE(GlobMatches("a?c", "ac"));
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
  EXPECT_FALSE(GlobMatches("abc", "ab"));
}

TEST(GlobTest, QuestionMarkIsOneCharacterNotOneByte) {
  EXPECT_TRUE(GlobMatches("?", "\xc3\xa9"));
  EXPECT_TRUE(GlobMatches("?", "\xff"));
}

TEST(GlobTest, MatchesSets) {
  EXPECT_TRUE(GlobMatches("[abc]x", "bx"));
  EXPECT_TRUE(GlobMatches("[a-f]", "c"));
  EXPECT_FALSE(GlobMatches("[!a-f]", "c"));
  EXPECT_TRUE(GlobMatches("[!a-f]", "z"));
  EXPECT_TRUE(GlobMatches("[]]", "]"));
  EXPECT_TRUE(GlobMatches("[a", "[a"));
  EXPECT_TRUE(GlobMatches("<listcomp>", "<listcomp>"));
}

TEST(GlobTest, ManyStarsStayFast) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  EXPECT_FALSE(GlobMatches(pattern + "b", std::string(20000, 'a')));
}

class RowFilterTest : public ::testing::Test {
 protected:
  RowFilterTest() {
    CodeDef code;
    code.set_file("/src/job.py");
    code.set_name("work");
    index_.Add(code);
    FunctionDef function;
    function.set_qualname("list.append");
    index_.Add(function);
    SiteDef site;
    site.set_code(1);
    index_.Add(site);
    site.set_what(C_RETURN);
    site.set_function(1);
    index_.Add(site);
    ThreadDef thread;
    thread.set_name("MainThread");
    thread.set_native_id(10);
    index_.Add(thread);
    thread.set_name("pool");
    thread.set_native_id(11);
    index_.Add(thread);
  }

  bool Passes(const Row& row) {
    return RowFilter(&options_, &index_).PassesNext(row);
  }

  RunIndex index_;
  FilterOptions options_;
};

TEST_F(RowFilterTest, WithoutOptionsEverythingPasses) {
  EXPECT_TRUE(options_.PassesEverything());
  EXPECT_TRUE(Passes(MakeRow(0, 0, 1, 0, 0)));
}

TEST_F(RowFilterTest, EachOptionAloneIsAFilter) {
  for (int i = 0; i < 8; ++i) {
    FilterOptions options;
    if (i == 0) options.from_us = 1;
    if (i == 1) options.to_us = 1;
    if (i == 2) options.threads = {"x"};
    if (i == 3) options.files = {"x"};
    if (i == 4) options.functions = {"x"};
    if (i == 5) options.kinds = 1;
    if (i == 6) options.min_drss_bytes = 1;
    if (i == 7) options.every = 2;
    EXPECT_FALSE(options.PassesEverything()) << i;
  }
}

TEST_F(RowFilterTest, TimesAreInclusive) {
  options_.from_us = 10;
  options_.to_us = 20;
  EXPECT_FALSE(Passes(MakeRow(0, 9, 1, 0, 0)));
  EXPECT_TRUE(Passes(MakeRow(0, 10, 1, 0, 0)));
  EXPECT_TRUE(Passes(MakeRow(0, 20, 1, 0, 0)));
  EXPECT_FALSE(Passes(MakeRow(0, 21, 1, 0, 0)));
}

TEST_F(RowFilterTest, FilesAndFunctionsAreAsPrinted) {
  options_.files = {"*.txt", "*/job.py"};
  options_.functions = {"list.*"};
  EXPECT_FALSE(Passes(MakeRow(0, 0, 1, 0, 0)));
  EXPECT_TRUE(Passes(MakeRow(0, 0, 2, 0, 0)));
}

TEST_F(RowFilterTest, ThreadsMatchWithAndWithoutTheirId) {
  options_.threads = {"pool"};
  Row row = MakeRow(0, 0, 1, 0, 0);
  EXPECT_FALSE(Passes(row));
  row.thread = 2;
  EXPECT_TRUE(Passes(row));
  options_.threads = {"*#10"};
  EXPECT_FALSE(Passes(row));
  row.thread = 1;
  EXPECT_TRUE(Passes(row));
}

TEST_F(RowFilterTest, MinDrssIsOfTheMagnitude) {
  options_.min_drss_bytes = 4096;
  EXPECT_TRUE(Passes(MakeRow(0, 0, 1, 0, 4096)));
  EXPECT_TRUE(Passes(MakeRow(0, 0, 1, 0, -4096)));
  EXPECT_FALSE(Passes(MakeRow(0, 0, 1, 0, -4095)));
  EXPECT_TRUE(Passes(MakeRow(0, 0, 1, 0, INT64_MIN)));
}

TEST_F(RowFilterTest, KindsArePicked) {
  options_.kinds = 1u << C_RETURN;
  Row row = MakeRow(0, 0, 2, 0, 0);
  row.what = C_RETURN;
  EXPECT_TRUE(Passes(row));
  row.what = CALL;
  EXPECT_FALSE(Passes(row));
}

TEST_F(RowFilterTest, EveryCountsRowsThatPass) {
  options_.every = 3;
  options_.min_drss_bytes = 1;
  RowFilter filter(&options_, &index_);
  std::string passed;
  for (int i = 0; i < 20; ++i) {
    const bool grows = i % 2 == 0;
    if (filter.PassesNext(MakeRow(i, 0, 1, 0, grows))) {
      passed += std::to_string(i) + " ";
    }
  }
  EXPECT_EQ(passed, "0 6 12 18 ");
}

TEST_F(RowFilterTest, MarksAreAskedForTimeThreadAndKind) {
  options_.from_us = 10;
  options_.files = {"nothing"};
  options_.min_drss_bytes = 1 << 30;
  Mark mark;
  mark.set_time_us(5);
  mark.set_thread(1);
  EXPECT_FALSE(RowFilter(&options_, &index_).PassesMark(mark));
  mark.set_time_us(10);
  EXPECT_TRUE(RowFilter(&options_, &index_).PassesMark(mark));
  options_.threads = {"pool"};
  EXPECT_FALSE(RowFilter(&options_, &index_).PassesMark(mark));
  options_.threads.clear();
  options_.kinds = 1;
  EXPECT_FALSE(RowFilter(&options_, &index_).PassesMark(mark));
}

TEST_F(RowFilterTest, PastMeansWellBehindTheEnd) {
  options_.to_us = 1000;
  RowFilter filter(&options_, &index_);
  EXPECT_FALSE(filter.IsPast(500000));
  EXPECT_TRUE(filter.IsPast(2000000));
}

}  // namespace
}  // namespace pymemrun
