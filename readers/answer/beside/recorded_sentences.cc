#include "readers/answer/beside/recorded_sentences.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "readers/output/screen_text.h"
#include "readers/replay/counters/counter_text.h"
#include "readers/replay/gil/gil_tables.h"
#include "readers/replay/gil/gil_text.h"
#include "readers/replay/states/state_tables.h"
#include "readers/replay/tasks/task_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kMostGilThreads = 8;

// The first of these lines that says one of the words; else the first.
std::string LineWith(const std::string& text,
                     const std::vector<absl::string_view>& words) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const absl::string_view word : words) {
    for (const std::string& line : lines) {
      if (absl::StrContains(line, word)) return line;
    }
  }
  return lines[0];
}

std::string GilLine(RereadFile* file) {
  GilReplay replay;
  if (!file->Read(&replay) || !replay.has_gil()) return "";
  ThreadFilter all("", &replay.index());
  return LineWith(GilSentence(replay, &all), {});
}

std::string StateLine(RereadFile* file) {
  StateReplay replay;
  if (!file->Read(&replay) || !replay.has_states()) return "";
  ThreadFilter all("", &replay.index());
  return LineWith(StateSentence(replay, &all), {});
}

std::string TaskLine(RereadFile* file) {
  std::optional<TaskRowList> rows;
  TaskReplay replay([&rows](const TaskReplay::Task& task) { rows->Add(task); });
  ThreadFilter all("", &replay.index());
  const TaskHeaps none;
  rows.emplace(TaskRowList::Options{TaskRows::kCoroutines}, &none, &all,
               &replay.index());
  if (!file->Read(&replay) || !replay.has_tasks()) return "";
  rows->Finish();
  rows->ReadNames(file, &replay);
  return LineWith(TaskSentences(replay, *rows, ""), {" held the event loop "});
}

// What may be wrong, or else how busy it was.
std::string CounterLine(RereadFile* file) {
  CounterReplay replay;
  if (!file->Read(&replay)) return "";
  Terminal wide;
  wide.columns = 4096;
  ScreenText text(&wide);
  AddCounterSentences(replay, &text);
  return LineWith(text.Take(), {" only grew", "It used "});
}

}  // namespace

std::vector<std::string> RecordedSentences(const RunFacts& facts,
                                           RereadFile* file) {
  std::vector<std::string> sentences;
  const auto add = [&](absl::string_view report, const std::string& line) {
    if (!line.empty()) sentences.push_back(absl::StrCat(report, ": ", line));
  };
  if (facts.Kept<GilRecording>().count > 0) add("gil", GilLine(file));
  if (facts.Kept<StateRecording>().count > 0) add("states", StateLine(file));
  if (facts.Kept<TaskRecording>().count > 0) add("tasks", TaskLine(file));
  if (facts.Kept<CounterPlan>().count > 0) add("counters", CounterLine(file));
  return sentences;
}

void PrintGilThreads(const RunFacts& facts, RereadFile* file,
                     OutputBuffer* output) {
  GilReplay replay;
  if (facts.Kept<GilRecording>().count == 0 || !file->Read(&replay) ||
      !replay.has_gil()) {
    return;
  }
  ThreadFilter all("", &replay.index());
  Table table = GilTable(GilRows::kThreads, replay, &all, kMostGilThreads,
                         TableFormat::kText);
  if (table.rows.empty()) return;
  DropEmptyColumns(&table);
  PrintTable(table, TableFormat::kText, output);
}

}  // namespace pymemrun
