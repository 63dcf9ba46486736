#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/timed/task_batch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/tracks/lines_sink_for_tests.h"
#include "readers/tracks/track_source.h"

namespace pymemrun {
namespace {

using ::testing::ElementsAre;

class TaskSourceTest : public ::testing::Test {
 protected:
  TaskSourceTest() : builder_(&sink_) {
    builder_.AddHeader(RunBuilder::DefaultHeader());
    builder_.AddThread("MainThread", 11);
    const uint32_t code = builder_.AddCode("/app.py", "work", 1);
    builder_.AddStack(0, code, 1);
  }
  void Name(uint32_t task, const std::string& name) {
    Record record;
    record.mutable_task()->set_task(task);
    record.mutable_task()->set_name(name);
    record.mutable_task()->set_stack(1);
    builder_.AddRecord(record);
  }
  void Step(uint32_t task, uint64_t begin_us, uint64_t end_us,
            int64_t grown = 0) {
    steps_.Append({end_us * 1000, 1, task, TASK_DONE,
                   (end_us - begin_us) * 1000, grown, 0});
  }
  std::vector<std::string> Lines(uint64_t min_us, bool for_picture = false) {
    Record record;
    steps_.Take(record.mutable_tasks());
    builder_.AddRecord(record);
    builder_.Flush();
    TempFile file(sink_.contents());
    const auto run = RereadFile::Open(file.path(), console_);
    LinesSink lines;
    const auto source = NewTaskSource({min_us, for_picture});
    EXPECT_TRUE(source->Give(run.get(), &lines));
    notes_ = source->Notes();
    return lines.lines();
  }

  const Console console_{"test", nullptr};
  StringSink sink_;
  RunBuilder builder_;
  TaskBatchEncoder steps_;
  std::vector<std::string> notes_;
};

TEST_F(TaskSourceTest, EachTaskIsATrackBesideItsThread) {
  Name(1, "a");
  Name(2, "b");
  Step(1, 10, 20, 4096);
  Step(2, 30, 40);
  Step(1, 50, 60);
  EXPECT_THAT(Lines(0),
              ElementsAre("thread MainThread", "lane a work of 1",
                          "lane b work of 1", "begin 2 10 a work",
                          "end 2 20 grew 4096", "begin 2 50 a work", "end 2 60",
                          "begin 3 30 b work", "end 3 40"));
  EXPECT_TRUE(notes_.empty());
}

TEST_F(TaskSourceTest, ShortStepsAreLeftOutAndCounted) {
  Name(1, "a");
  Step(1, 10, 11);
  Step(1, 20, 5020);
  EXPECT_EQ(Lines(1000).size(), 4u);
  EXPECT_THAT(notes_,
              ElementsAre("1 of 2 steps of tasks written; the others were "
                          "shorter than 1 ms (--min-duration)"));
}

TEST_F(TaskSourceTest, InPicturesAThreadHasOneLaneAndTheTasksThatRanMostNames) {
  for (uint32_t task = 1; task <= 10; ++task) {
    Name(task, absl::StrCat("t", task));
    Step(task, task * 1000, task * 1000 + task * 10);
  }
  const std::vector<std::string> lines = Lines(0, /*for_picture=*/true);
  ASSERT_EQ(lines.size(), 22u);
  EXPECT_EQ(lines[0], "thread MainThread");
  EXPECT_EQ(lines[1], "lane tasks of 1");
  EXPECT_EQ(lines[2], "begin 2 1000 other tasks");
  EXPECT_EQ(lines[4], "begin 2 2000 other tasks");
  EXPECT_EQ(lines[6], "begin 2 3000 t3 work");
  EXPECT_EQ(lines[20], "begin 2 10000 t10 work");
}

TEST_F(TaskSourceTest, APictureHasNoNameForATaskThatHardlyRan) {
  Name(1, "a");
  Name(2, "b");
  Step(1, 1000, 2000000);
  Step(2, 2000000, 2000100);
  EXPECT_EQ(Lines(0, /*for_picture=*/true)[4], "begin 2 2000000 other tasks");
}

// Those within one another come in the order of their begins.
TEST_F(TaskSourceTest, BeyondOneHundredTasksShareATrack) {
  for (uint32_t task = 1; task <= 100; ++task) {
    Step(task, task * 1000, task * 1000 + 900);
  }
  Step(102, 200010, 200020);
  Step(101, 200000, 200030);
  const std::vector<std::string> lines = Lines(0);
  ASSERT_GT(lines.size(), 4u);
  const std::vector<std::string> last(lines.end() - 4, lines.end());
  EXPECT_THAT(last, ElementsAre("begin 102 200000 task 101",
                                "begin 102 200010 task 102", "end 102 200020",
                                "end 102 200030"));
}

}  // namespace
}  // namespace pymemrun
