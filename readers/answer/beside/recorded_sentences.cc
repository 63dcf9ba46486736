#include "readers/answer/beside/recorded_sentences.h"

#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "readers/answer/memory/answer.h"
#include "readers/output/screen_text.h"
#include "readers/replay/counters/counter_text.h"
#include "readers/replay/gil/gil_tables.h"
#include "readers/replay/gil/gil_text.h"
#include "readers/replay/states/state_tables.h"
#include "readers/replay/tasks/task_text.h"
#include "readers/run/forked_run.h"
#include "readers/run/reread_file.h"
#include "readers/run/run_files.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr uint64_t kMostGilThreads = 8;

// The first line that has one of the words, or else the first line.
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

// Rows need the replay's index, and the replay hands its tasks to the rows.
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

// A sign of a problem, or else how busy the process was.
std::string CounterLine(RereadFile* file) {
  CounterReplay replay;
  if (!file->Read(&replay)) return "";
  // Each sentence has to stay on one line, for LineWith().
  Terminal wide;
  wide.columns = 4096;
  ScreenText text(&wide);
  AddCounterSentences(replay, &text);
  return LineWith(text.Take(), {" only grew", "It used "});
}

}  // namespace

// Each kind takes a reading of its own, so it is read only if it was recorded.
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

namespace {

constexpr size_t kMostFiles = 64;

// The own line that holds most at the peak; imports come last.
std::string TopLine(const std::string& path, const Console& console) {
  const auto file = RereadFile::Open(path, console);
  if (file == nullptr) return "";
  const auto answer = ReadAnswer(file.get(), /*with_curves=*/false);
  if (answer == nullptr) return "";
  const PlaceHolding* top = nullptr;
  for (const PlaceHolding& holding : answer->peak.split.places) {
    if (!holding.is_own) continue;
    if (top == nullptr || (top->is_import && !holding.is_import))
      top = &holding;
  }
  if (top == nullptr) return "";
  const Place& place = top->place;
  return absl::StrCat(ShortPath(place.file, answer->facts.header.cwd()), ":",
                      place.line);
}

// Whether `later` is the same process after it called exec.
bool IsSuccessor(const Header& earlier, const Header& later) {
  return earlier.pid() == later.pid() && earlier.host() == later.host() &&
         earlier.process_start_ticks() != 0 &&
         earlier.process_start_ticks() == later.process_start_ticks() &&
         earlier.start_monotonic_ns() < later.start_monotonic_ns();
}

}  // namespace

// Reads each child's facts, and a whole answer only of the largest one. Beyond
// kMostFiles files nothing is read, as a pool may fork thousands of processes.
ChildRuns ReadChildren(const std::string& path, const Header& parent,
                       const Console& console) {
  ChildRuns children;
  std::vector<std::string> paths = WithChildren(path);
  if (paths.size() > kMostFiles + 1) {
    paths.resize(kMostFiles + 1);
    children.all_seen = false;
  }
  std::string largest;
  for (size_t i = 1; i < paths.size(); ++i) {
    const auto file = RereadFile::Open(paths[i], console);
    RunFacts facts;
    if (file == nullptr || !file->ReadAgain(&facts)) continue;
    children.has_successor |= IsSuccessor(parent, facts.header);
    // Files beside the run may be of grandchildren, or of older runs.
    if (!IsParent(parent, facts.header)) continue;
    ++children.count;
    children.any_unshares |=
        facts.header.forked() && facts.header.page_period() != 0;
    if (!largest.empty() && facts.HwmBytes() <= children.peak_bytes) continue;
    largest = paths[i];
    children.largest_pid = facts.header.pid();
    children.peak_bytes = facts.HwmBytes();
  }
  if (!largest.empty()) children.top_line = TopLine(largest, console);
  return children;
}

// "3 children, largest 4712: 120 MiB at its peak, most at job.py:4; 1 other was
// not recorded; ...".
std::string ChildrenText(const ChildRuns& children, uint64_t untraced) {
  constexpr absl::string_view kHow =
      " not recorded; pymemrun --follow all records those that run Python.";
  if (children.count == 0) {
    return untraced == 0 ? ""
                         : absl::StrCat(Counted(untraced, "child process was",
                                                "child processes were"),
                                        kHow);
  }
  const bool one = children.count == 1 && children.all_seen;
  return absl::StrCat(
      children.all_seen ? "" : "At least ",
      Counted(children.count, "child", "children"), ", ", one ? "" : "largest ",
      children.largest_pid, ": ",
      ShortBytes(static_cast<double>(children.peak_bytes)),
      children.top_line.empty() ? ""
                                : absl::StrCat(" at its peak, most at ",
                                               TerminalText(children.top_line)),
      untraced == 0
          ? "."
          : absl::StrCat("; ", Counted(untraced, "other was", "others were"),
                         kHow));
}

std::string SuccessorText(const ChildRuns& children, const Footer& footer) {
  if (footer.end() != Footer::EXEC || children.has_successor) return "";
  return "The program called exec. The new program was not recorded; pymemrun "
         "--follow all records it if it runs Python.";
}

}  // namespace pymemrun
