// What the first screen says beside the memory of its process.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/answer/beside/recorded_sentences.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"
#include "readers/testing/temp_folder.h"

namespace pymemrun {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kMiB = 1 << 20;

// The file of process `pid`, which began at that tick; `also`: further records.
std::string RunOf(uint32_t pid, uint32_t parent_pid, uint64_t hwm_mib,
                  const std::vector<Record>& also = {}) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_pid(pid);
  header.set_process_start_ticks(1000 + pid);
  header.set_parent_pid(parent_pid);
  header.set_parent_start_ticks(1000 + parent_pid);
  header.set_forked(parent_pid == 10);
  header.set_page_period(1);
  builder.AddHeader(header);
  builder.AddThread("MainThread", pid);
  for (const Record& record : also) builder.AddRecord(record);
  builder.AddProcess(1000, hwm_mib * kMiB, hwm_mib * kMiB);
  Record record;
  record.mutable_footer()->set_end(Footer::EXIT);
  record.mutable_footer()->set_end_us(2000000);
  record.mutable_footer()->set_hwm_bytes(hwm_mib * kMiB);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

TEST(ChildRunsTest, TheLargestChildIsNamed) {
  const TempFolder folder;
  const std::string run = folder.Write("run.pb", RunOf(10, 1, 20));
  EXPECT_THAT(Report({run}).out, Not(HasSubstr("child")));
  folder.Write("run.11.pb", RunOf(11, 10, 30));
  folder.Write("run.12.pb", RunOf(12, 10, 127));
  // A grandchild, and the child of another run.
  folder.Write("run.13.pb", RunOf(13, 12, 500));
  folder.Write("run.14.pb", RunOf(14, 99, 500));
  const std::string text = Report({run}).out;
  EXPECT_THAT(text, HasSubstr("\n2 children, largest 12: 127 MiB.\n"));
  EXPECT_THAT(text, HasSubstr("\npymemreport processes "));
  EXPECT_THAT(text, HasSubstr("\npymemreport unshared "));
}

TEST(ChildRunsTest, AnUntracedSuccessorIsSaid) {
  ChildRuns children;
  Footer footer;
  EXPECT_EQ(SuccessorText(children, footer), "");
  footer.set_end(Footer::EXEC);
  EXPECT_EQ(SuccessorText(children, footer),
            "The program called exec. The new program was not recorded; "
            "pymemrun --follow all records it if it runs Python.");
  children.has_successor = true;
  EXPECT_EQ(SuccessorText(children, footer), "");
}

TEST(ChildRunsTest, TheLineThatHoldsMostIsSaid) {
  ChildRuns children;
  EXPECT_EQ(ChildrenText(children, 0), "");
  EXPECT_EQ(ChildrenText(children, 2),
            "2 child processes were not recorded; pymemrun --follow all "
            "records those that run Python.");
  children.count = 1;
  children.largest_pid = 18427;
  children.peak_bytes = 127 * kMiB;
  children.top_line = "f_mp.py:3";
  EXPECT_EQ(ChildrenText(children, 0),
            "1 child, 18427: 127 MiB at its peak, most at f_mp.py:3.");
  EXPECT_EQ(
      ChildrenText(children, 1),
      "1 child, 18427: 127 MiB at its peak, most at f_mp.py:3; 1 other "
      "was not recorded; pymemrun --follow all records those that run Python.");
  children.all_seen = false;
  EXPECT_EQ(ChildrenText(children, 0),
            "At least 1 child, largest 18427: 127 MiB at its peak, most at "
            "f_mp.py:3.");
}

TEST(RecordedSentencesTest, EachRecordingGivesItsOwn) {
  Record gil, tasks;
  gil.mutable_gil_recording()->set_min_wait_ns(1000000);
  tasks.mutable_task_recording()->set_min_blocked_ns(1000000);
  const TempFolder folder;
  const std::string run =
      folder.Write("run.pb", RunOf(10, 1, 20, {gil, tasks}));
  const std::string text = Report({run}).out;
  EXPECT_THAT(text,
              HasSubstr("\ngil: No thread took the GIL in what was read.\n"
                        "tasks: No task ran in what was read.\n"));
  EXPECT_THAT(text, Not(HasSubstr("Recorded too")));
}

}  // namespace
}  // namespace pymemrun
