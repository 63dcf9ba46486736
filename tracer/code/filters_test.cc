#include "tracer/code/filters.h"

#include <vector>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

// Filters with these globs.
class FiltersTest : public testing::Test {
 protected:
  Filters With() {
    config_.include = include_;
    config_.exclude = exclude_;
    config_.function = function_;
    config_.thread = thread_;
    return Filters(&config_);
  }

  std::vector<const char*> include_, exclude_, function_, thread_;

 private:
  TraceConfig config_;
};

TEST_F(FiltersTest, WithoutGlobsEverythingPasses) {
  const Filters filters = With();
  EXPECT_TRUE(filters.PassesFile("/a/b.py"));
  EXPECT_TRUE(filters.PassesFile(""));
  EXPECT_TRUE(filters.PassesFunction("f"));
  EXPECT_TRUE(filters.PassesThread(""));
}

TEST_F(FiltersTest, StarCrossesSlashes) {
  include_ = {"/home/*.py"};
  const Filters filters = With();
  EXPECT_TRUE(filters.PassesFile("/home/me/deep/x.py"));
  EXPECT_FALSE(filters.PassesFile("/usr/lib/x.py"));
}

TEST_F(FiltersTest, OneIncludeOfSeveralIsEnoughAndExcludeWins) {
  include_ = {"*/a/*", "*/b/*"};
  exclude_ = {"*/b/secret*"};
  const Filters filters = With();
  EXPECT_TRUE(filters.PassesFile("/x/a/1.py"));
  EXPECT_TRUE(filters.PassesFile("/x/b/1.py"));
  EXPECT_FALSE(filters.PassesFile("/x/b/secret.py"));
  EXPECT_FALSE(filters.PassesFile("/x/c/1.py"));
}

TEST_F(FiltersTest, ExcludeAloneLeavesTheRest) {
  exclude_ = {"*/lib/*"};
  const Filters filters = With();
  EXPECT_FALSE(filters.PassesFile("/usr/lib/x.py"));
  EXPECT_TRUE(filters.PassesFile("/usr/x.py"));
}

TEST_F(FiltersTest, FunctionsAndThreadsMatchByName) {
  function_ = {"list.*"};
  thread_ = {"Thread-[12]*"};
  const Filters filters = With();
  EXPECT_TRUE(filters.PassesFunction("list.append"));
  EXPECT_FALSE(filters.PassesFunction("dict.get"));
  EXPECT_TRUE(filters.PassesThread("Thread-2 (work)"));
  EXPECT_FALSE(filters.PassesThread("MainThread"));
}

TEST_F(FiltersTest, PatternCharactersInANameMatchThemselvesEscaped) {
  function_ = {"\\<lambda\\>", "<listcomp>"};
  const Filters filters = With();
  EXPECT_TRUE(filters.PassesFunction("<lambda>"));
  EXPECT_TRUE(filters.PassesFunction("<listcomp>"));
}

}  // namespace
}  // namespace pymemrun
