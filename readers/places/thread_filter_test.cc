#include "readers/places/thread_filter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;

class ThreadFilterTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, uint64_t native_id) {
    ThreadDef thread;
    thread.set_id(static_cast<uint32_t>(index_.threads() + 1));
    thread.set_name(name);
    thread.set_native_id(native_id);
    index_.Add(thread);
  }
  std::vector<uint32_t> Kept(const std::string& wanted) {
    ThreadFilter filter(wanted, &index_);
    std::vector<uint32_t> kept;
    for (uint32_t thread = 0; thread <= index_.threads() + 1; ++thread) {
      if (filter.Keeps(thread)) kept.push_back(thread);
    }
    return kept;
  }

  RunIndex index_;
};

TEST_F(ThreadFilterTest, KnowsThreadsByNamePatternNumberAndLabel) {
  Add("MainThread", 4711);
  Add("worker-1", 4712);
  Add("worker-2", 4713);
  EXPECT_EQ(Kept("worker-1"), std::vector<uint32_t>{2});
  EXPECT_EQ(Kept("worker-*"), (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(Kept("4711"), std::vector<uint32_t>{1});
  EXPECT_EQ(Kept("worker-2#4713"), std::vector<uint32_t>{3});
  EXPECT_EQ(Kept("worker"), std::vector<uint32_t>{});
  Add("pre*[x]", 4714);
  EXPECT_EQ(Kept("pre*[x]"), std::vector<uint32_t>{4});
  // All of them, unknown ones included.
  EXPECT_EQ(Kept("").size(), 6u);
}

TEST_F(ThreadFilterTest, AThreadMayBeDefinedAfterItWasAskedFor) {
  ThreadFilter filter("worker", &index_);
  EXPECT_FALSE(filter.Keeps(1));
  Add("worker", 4712);
  EXPECT_TRUE(filter.Keeps(1));
}

TEST_F(ThreadFilterTest, SaysWhichThreadsThereAre) {
  EXPECT_THAT(std::string(ThreadFilter("x", &index_).Check().message()),
              HasSubstr("recorded no threads"));
  Add("MainThread", 4711);
  Add("worker\n", 4712);
  EXPECT_TRUE(ThreadFilter("", &index_).Check().ok());
  EXPECT_TRUE(ThreadFilter("work*", &index_).Check().ok());
  EXPECT_EQ(std::string(ThreadFilter("x", &index_).Check().message()),
            "--thread: expected MainThread#4711, worker\\x0a#4712, found 'x'");
  for (uint64_t id = 1; id <= 10; ++id) Add("pool", id);
  EXPECT_THAT(std::string(ThreadFilter("x", &index_).Check().message()),
              HasSubstr(" and 4 more, found 'x'"));
}

TEST_F(ThreadFilterTest, ItsLabelIsTheThreadOrHowManyThereAre) {
  Add("MainThread", 4711);
  Add("pool", 4712);
  Add("pool", 4713);
  EXPECT_EQ(ThreadFilter("4711", &index_).Label(), "MainThread#4711");
  EXPECT_EQ(ThreadFilter("pool", &index_).Label(), "2 threads 'pool'");
}

}  // namespace
}  // namespace pymemrun
