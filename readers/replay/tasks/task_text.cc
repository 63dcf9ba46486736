#include "readers/replay/tasks/task_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "readers/replay/tasks/task_tables.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Shorter steps, and smaller growth, get no sentence.
constexpr uint64_t kShortStepNs = 1000000;
constexpr int64_t kSmallGrowth = 256 << 10;

// Names are often made of what the task does, and long.
std::string NameOf(const TaskReplay& replay, uint32_t task) {
  constexpr size_t kMostColumns = 64;
  return CutToColumns(replay.names().Label(task), kMostColumns);
}

std::string HeldLongest(const TaskReplay& replay, const TaskStep& step) {
  const double ms = static_cast<double>(step.ran_ns) / 1e6;
  std::string text = absl::StrFormat(
      "%s held the event loop longest: %.1f ms at %.3f s",
      NameOf(replay, step.task), ms, static_cast<double>(step.begin_ns) / 1e9);
  const std::string place = TerminalText(StepPlace(replay, step));
  if (!place.empty()) {
    const bool blocked =
        step.blocked_stack != 0 && step.blocked_ns >= step.ran_ns / 2;
    absl::StrAppend(&text, blocked ? ", in a call that waits, at " : ", ",
                    place);
  }
  if (step.others > 0) {
    absl::StrAppend(&text, "; ", Counted(step.others, "other task"),
                    step.others == 1 ? " was" : " were", " alive at that time");
  }
  return text + ".\n";
}

// Less than a hundredth is not worth a word.
std::string ErrorText(const TaskReplay& replay, const TaskBytes& live) {
  if (!replay.is_estimate() || live.Error() < 0.01 * live.bytes) return "";
  return absl::StrCat(" (standard error ", HumanBytes(live.Error()), ")");
}

std::string AliveAt(const TaskReplay& replay, const std::string& who,
                    const TaskBytes& live, const std::string& moment) {
  return absl::StrCat(who, " allocated ", HumanBytes(live.bytes),
                      ErrorText(replay, live), " of what is alive at ", moment);
}

std::string TogetherText(const TaskReplay& replay, const TaskRow& function,
                         const std::string& moment) {
  const absl::string_view name =
      replay.index().ResolveStack(function.of.stack).qualname;
  return AliveAt(replay,
                 absl::StrCat(Counted(function.of.sums.tasks, "task"), " of ",
                              name.empty() ? "?" : TerminalText(name)),
                 function.heap.live, moment) +
         ".\n";
}

// Many small tasks of one function: no single task matters. False if one task
// has a good part of their memory.
bool AreSmall(const TaskReplay& replay, const TaskRow& most,
              const TaskRow& function) {
  constexpr double kGoodPart = 0.25;
  return !replay.index().ResolveStack(function.of.stack).qualname.empty() &&
         most.heap.live.bytes < kGoodPart * function.heap.live.bytes;
}

std::string MostAlive(const TaskReplay& replay, const TaskRowList& rows,
                      const std::string& moment) {
  const TaskRow* const most = rows.most_alive();
  if (most == nullptr) return "";
  if (rows.by() == TaskRows::kCoroutines) {
    return TogetherText(replay, *most, moment);
  }
  const TaskRow& function = rows.MostAliveFunction();
  if (AreSmall(replay, *most, function)) {
    return TogetherText(replay, function, moment);
  }
  return absl::StrCat(
      AliveAt(replay, NameOf(replay, most->of.task), most->heap.live, moment),
      rows.IsMostForSure() ? ", the most of all" : "", ".\n");
}

// RSS may have risen within a task's steps because of other threads or tasks.
// Blocks that are alive confirm that the task grew.
bool HasMostAlive(const TaskRowList& rows, uint32_t task) {
  const TaskRow* const most = rows.most_alive();
  return most != nullptr && most->of.sums.most_grown_task == task;
}

// "1 ended with an exception, 2 were cancelled.", where there are such.
std::string Ends(const TaskSums& all) {
  std::vector<std::string> ends;
  if (all.raised > 0) {
    ends.push_back(
        absl::StrCat(Grouped(all.raised), " ended with an exception"));
  }
  if (all.cancelled > 0) {
    ends.push_back(absl::StrCat(Grouped(all.cancelled),
                                all.cancelled == 1 ? " was" : " were",
                                " cancelled"));
  }
  return ends.empty() ? "" : absl::StrCat(absl::StrJoin(ends, ", "), ".\n");
}

}  // namespace

std::string TaskSentences(const TaskReplay& replay, const TaskRowList& rows,
                          const std::string& moment) {
  if (rows.count() == 0) return "No task ran in what was read.\n";
  const TaskSums& all = rows.all();
  std::string text = absl::StrCat(
      Counted(all.tasks, "task"), " ran ", Counted(all.steps, "step"), ", ",
      HumanSeconds(all.ran_ns / 1000), " in all; ",
      all.not_done == 0 ? "none is" : Grouped(all.not_done),
      all.not_done == 0   ? ""
      : all.not_done == 1 ? " is"
                          : " are",
      all.not_done == 0 ? " left" : " not done", ".\n", Ends(all));
  if (all.longest.SureNs() >= kShortStepNs) {
    absl::StrAppend(&text, HeldLongest(replay, all.longest));
  }
  if (all.most_grown_bytes >= kSmallGrowth &&
      (moment.empty() || HasMostAlive(rows, all.most_grown_task))) {
    absl::StrAppend(&text, NameOf(replay, all.most_grown_task),
                    " grew most: RSS rose by ",
                    HumanBytes(static_cast<double>(all.most_grown_bytes)),
                    " within its steps.\n");
  }
  if (!moment.empty()) absl::StrAppend(&text, MostAlive(replay, rows, moment));
  if (replay.lost() > 0) {
    absl::StrAppend(&text, Counted(replay.lost(), "step"),
                    " lost: sums are too low.\n");
  }
  return text;
}

}  // namespace pymemrun
