#include "tracer/filters.h"

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

TEST(FiltersTest, WithoutGlobsEverythingPasses) {
  const TraceConfig config;
  const Filters filters(&config);
  EXPECT_TRUE(filters.PassesFile("/a/b.py"));
  EXPECT_TRUE(filters.PassesFunction("f"));
  EXPECT_TRUE(filters.PassesThread(""));
}

TEST(FiltersTest, StarCrossesSlashes) {
  const char* include[] = {"/home/*.py"};
  TraceConfig config;
  config.include = include;
  config.include_count = 1;
  const Filters filters(&config);
  EXPECT_TRUE(filters.PassesFile("/home/me/deep/x.py"));
  EXPECT_FALSE(filters.PassesFile("/usr/lib/x.py"));
}

TEST(FiltersTest, OneIncludeOfSeveralIsEnoughAndExcludeWins) {
  const char* include[] = {"*/a/*", "*/b/*"};
  const char* exclude[] = {"*/b/secret*"};
  TraceConfig config;
  config.include = include;
  config.include_count = 2;
  config.exclude = exclude;
  config.exclude_count = 1;
  const Filters filters(&config);
  EXPECT_TRUE(filters.PassesFile("/x/a/1.py"));
  EXPECT_TRUE(filters.PassesFile("/x/b/1.py"));
  EXPECT_FALSE(filters.PassesFile("/x/b/secret.py"));
  EXPECT_FALSE(filters.PassesFile("/x/c/1.py"));
}

TEST(FiltersTest, FunctionsAndThreadsMatchByName) {
  const char* function[] = {"list.*"};
  const char* thread[] = {"Thread-[12]*"};
  TraceConfig config;
  config.function = function;
  config.function_count = 1;
  config.thread = thread;
  config.thread_count = 1;
  const Filters filters(&config);
  EXPECT_TRUE(filters.PassesFunction("list.append"));
  EXPECT_FALSE(filters.PassesFunction("dict.get"));
  EXPECT_TRUE(filters.PassesThread("Thread-2 (work)"));
  EXPECT_FALSE(filters.PassesThread("MainThread"));
}

TEST(FiltersTest, PatternCharactersInANameMatchThemselvesEscaped) {
  const char* function[] = {"\\<lambda\\>", "<listcomp>"};
  TraceConfig config;
  config.function = function;
  config.function_count = 2;
  const Filters filters(&config);
  EXPECT_TRUE(filters.PassesFunction("<lambda>"));
  EXPECT_TRUE(filters.PassesFunction("<listcomp>"));
}

}  // namespace
}  // namespace pymemrun
