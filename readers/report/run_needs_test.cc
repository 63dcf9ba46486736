// Every command says the same of a run that lacks what it needs.
#include "readers/report/run_needs.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "readers/report/report_command.h"
#include "readers/testing/program_test_util.h"
#include "readers/testing/run_builder.h"

namespace pymemrun {
namespace {

// A run that has recorded all else.
std::string RunWithout(Recorded what) {
  StringSink sink;
  RunBuilder builder(&sink);
  Header header = RunBuilder::DefaultHeader();
  header.set_forked(true);
  header.set_calls_off(what == Recorded::kCalls);
  const bool faults = what != Recorded::kPages && what != Recorded::kFaults;
  header.set_page_period(faults ? 1 : 0);
  header.set_heap(what == Recorded::kHeap        ? HEAP_OFF
                  : what == Recorded::kEachBlock ? HEAP_SAMPLED
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
                                  const std::string& command) {
  if (need.option == "--sleeps") return {"--off"};
  if (command == "timeline" && need.value == "task") return {"--of", "heap"};
  return {};
}

TEST(RunNeedsTest, EachCommandSaysWhatARunLacks) {
  int asked = 0;
  for (const auto& command : ReportCommands()) {
    command->MakeParser("pymemreport");
    for (const RunNeed& need : command->needs().all()) {
      TempFile file(RunWithout(need.what));
      std::vector<std::string> words = {command->name(), file.path()};
      if (!need.option.empty()) words.push_back(need.option);
      if (!need.value.empty()) words.push_back(need.value);
      for (const std::string& word : BesideOf(need, command->name())) {
        words.push_back(word);
      }
      const Printed printed = Report(words);
      EXPECT_EQ(printed.err, absl::StrCat("pymemreport: ", file.path(), ": ",
                                          LackText(need.what), "\n"))
          << command->name() << " " << need.option;
      EXPECT_EQ(printed.out, "");
      EXPECT_EQ(printed.code, 2);
      ++asked;
    }
  }
  EXPECT_GE(asked, 20);
}

TEST(RunNeedsTest, HelpSaysThemToo) {
  EXPECT_NE(Report({"gil", "--help"}).out.find("needs a run with GIL events "),
            std::string::npos);
  const std::string all = Report({"gil", "--help-all"}).out;
  EXPECT_NE(all.find("Needs a run with states"), std::string::npos);
}

}  // namespace
}  // namespace pymemrun
