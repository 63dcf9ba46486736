// Every command says the same of a run that lacks what it needs.
#include "readers/report/run_needs.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "readers/report/report_command.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// A run that has recorded all else.
std::string RunWithout(Recorded what) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_forked(true);
  const bool both = what == Recorded::kThreadMemory;
  header.set_calls_off(what == Recorded::kCalls || what == Recorded::kGrowth);
  const bool no_faults = both || what == Recorded::kPages ||
                         what == Recorded::kFaults || what == Recorded::kGrowth;
  header.set_page_period(no_faults ? 0 : 1);
  header.set_heap(both || what == Recorded::kHeap ? HEAP_OFF
                  : what == Recorded::kEachBlock  ? HEAP_SAMPLED
                                                  : HEAP_ALL);
  header.set_heap_native(what != Recorded::kBlocksOfC);
  builder.AddHeader(header);
  builder.AddThread("MainThread", 4711);
  Record record;
  if (what != Recorded::kGil) record.mutable_gil_recording();
  if (record.kind_case() != Record::KIND_NOT_SET) builder.AddRecord(record);
  if (what != Recorded::kStates) {
    record.mutable_state_recording();
    builder.AddRecord(record);
  }
  if (what != Recorded::kTasks) {
    record.mutable_task_recording();
    builder.AddRecord(record);
  }
  if (what != Recorded::kCounters) {
    record.mutable_counter_plan()->set_every_us(100000);
    builder.AddRecord(record);
  }
  builder.AddProcess(1000, 10 << 20, 11 << 20);
  record.mutable_footer()->set_end_us(2000);
  builder.AddRecord(record);
  builder.Flush();
  return sink.contents();
}

// What else such options want.
std::vector<std::string> BesideOf(const RunNeed& need,
                                  const std::string& command,
                                  const std::string& path) {
  if (need.choice == "--sleeps") return {"--off"};
  if (need.choice == "--thread") return {"MainThread"};
  if (command == "diff") return {path};
  if (command == "timeline" && need.choice == "--by task") {
    return {"--of", "heap"};
  }
  if (command == "timeline" && need.what == Recorded::kFaults) {
    return {"--of", "threads"};
  }
  return {};
}

TEST(RunNeedsTest, EachCommandSaysWhatARunLacks) {
  int asked = 0;
  for (const auto& command : ReportCommands()) {
    command->MakeParser("pymemreport");
    for (const RunNeed& need : command->needs().all()) {
      TempFile file(RunWithout(need.what));
      std::vector<std::string> words = {command->name(), file.path()};
      const std::string choice = need.choice.substr(0, need.choice.find('|'));
      for (const absl::string_view word :
           absl::StrSplit(choice, ' ', absl::SkipEmpty())) {
        words.emplace_back(word);
      }
      for (const std::string& word :
           BesideOf(need, command->name(), file.path())) {
        words.push_back(word);
      }
      const Printed printed = Report(words);
      EXPECT_EQ(printed.err, absl::StrCat("pymemreport: ", file.path(), ": ",
                                          LackText(need.what), "\n"))
          << command->name() << " " << need.choice;
      EXPECT_EQ(printed.out, "");
      EXPECT_EQ(printed.code, 2);
      ++asked;
    }
  }
  EXPECT_GE(asked, 33);
}

TEST(RunNeedsTest, HelpSaysThemToo) {
  EXPECT_NE(Report({"gil", "--help"}).out.find("needs a run with GIL events "),
            std::string::npos);
  const std::string all = Report({"gil", "--help-all"}).out;
  EXPECT_THAT(all, ContainsRegex("Needs a run with[ \n]+states of threads"));
  EXPECT_THAT(Report({"threads", "--help"}).out,
              HasSubstr("It needs a run with page faults or heap events\n"
                        "(--trace pages, or --heap sampled), except with "
                        "--thread-attribution observed."));
  EXPECT_THAT(Report({"export", "--help-all"}).out,
              HasSubstr("dot: needs a run with heap events (--heap"));
}

TEST(RunNeedsTest, ADefaultIsAskedForUnlessAnOptionExceptsIt) {
  TempFile file(RunWithout(Recorded::kPages));
  EXPECT_THAT(Report({"timeline", file.path()}).err,
              HasSubstr(LackText(Recorded::kPages)));
  EXPECT_EQ(Report({"timeline", file.path(), "--by", "heap"}).err, "");
}

}  // namespace
}  // namespace pymemrun
