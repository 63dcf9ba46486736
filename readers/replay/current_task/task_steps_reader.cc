#include "readers/replay/current_task/task_steps_reader.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "format/records/read_steps.h"

namespace pymemrun {
namespace {

// How late a step may be in the file and still be found: a thread waits for
// room in its ring for at most two seconds.
constexpr uint64_t kLateUs = 2500000;
// The least number of steps read at once; turns are made anew after it.
constexpr size_t kStepsAtOnce = size_t{1} << 15;
// How often the file is read again from its start, for times whose steps were
// dropped.
constexpr uint32_t kMostRestarts = 16;

}  // namespace

// The steps around an ascending time. Not thread safe.
class StepWindow final : public IndexingVisitor {
 public:
  StepWindow(const RereadFile& file, uint64_t longest_us, bool tells_functions)
      : longest_us_(longest_us),
        tells_functions_(tells_functions),
        source_(file.fd()),
        reader_(&source_, OptionsOf(file), this) {
    KnowThreads(file.threads());
  }

  HeapUse heap_use() const override { return HeapUse::kNone; }
  void OnTask(const TaskDef& task) override {
    if (tells_functions_) functions_[task.task()] = task.stack();
  }
  bool OnTasks(const TaskEvent* events, size_t count) override;

  // Whether steps of this time may have been dropped.
  bool IsPast(uint64_t time_us) const { return time_us < from_us_; }
  size_t steps() const { return timeline_.steps(); }
  uint32_t TaskAt(uint32_t thread, uint64_t time_us) {
    // The window ends before this time: move it on. Reading goes only forwards.
    if (time_us >= until_us_ && !at_end_) MoveTo(time_us);
    return timeline_.TaskAt(thread, time_us);
  }

 private:
  static StreamReader::Options OptionsOf(const RereadFile& file) {
    StreamReader::Options options;
    options.was_checked = file.whole();
    return options;
  }
  void MoveTo(uint64_t time_us);

  const uint64_t longest_us_;
  const bool tells_functions_;
  BesideSource source_;
  ReadSteps reader_;
  TaskTimeline timeline_;
  // By task, of the tasks that are not done.
  absl::flat_hash_map<uint32_t, uint32_t> functions_;
  // All steps between from_us_ and until_us_ are here. Steps that ended until
  // `read_us_` were read.
  uint64_t from_us_ = 0, until_us_ = 0, read_us_ = 0;
  bool at_end_ = false;
};

bool StepWindow::OnTasks(const TaskEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const TaskEvent& step = events[i];
    read_us_ = std::max(read_us_, step.time_ns / 1000);
    if (!step.is_step()) continue;
    uint32_t tells = step.task;
    if (tells_functions_) {
      const auto found = functions_.find(step.task);
      tells = found != functions_.end() ? found->second : 0;
      // The task's number may be used again.
      if (found != functions_.end() && step.ends_task()) {
        functions_.erase(found);
      }
    }
    timeline_.Add(index().FirstThread(step.thread), tells,
                  step.begin_ns() / 1000, step.time_ns / 1000);
  }
  return true;
}

// A step is in the file at its end. As many steps are read as were kept, so
// that each is sorted only a few times.
void StepWindow::MoveTo(uint64_t time_us) {
  from_us_ = time_us - std::min(time_us, kLateUs);
  timeline_.Forget(from_us_);
  const size_t enough =
      timeline_.steps() + std::max(timeline_.steps(), kStepsAtOnce);
  // Steps that end later than this cannot contain `time_us`.
  const uint64_t ahead_us = longest_us_ + kLateUs;
  while (!at_end_ && (read_us_ <= time_us || read_us_ - time_us <= ahead_us ||
                      timeline_.steps() < enough)) {
    const absl::StatusOr<bool> more = reader_.Step();
    at_end_ = !more.ok() || !*more;
  }
  // Every step that overlaps a time before this was read.
  until_us_ = read_us_ - std::min(read_us_, ahead_us);
  timeline_.MakeTurns();
}

TaskStepsReader::TaskStepsReader(RereadFile* file) : file_(file) {}
TaskStepsReader::~TaskStepsReader() = default;

bool TaskStepsReader::OnTasks(const TaskEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!events[i].is_step()) continue;
    longest_us_ = std::max(
        longest_us_, events[i].time_ns / 1000 - events[i].begin_ns() / 1000);
  }
  return true;
}

uint32_t TaskStepsReader::TaskAt(uint32_t thread, uint64_t time_us) const {
  // A time before the window: read the file again. After kMostRestarts some
  // times find no task, so that the work stays bounded.
  if (window_ == nullptr ||
      (window_->IsPast(time_us) && restarts_++ < kMostRestarts)) {
    window_ =
        std::make_unique<StepWindow>(*file_, longest_us_, tells_functions_);
  }
  return window_->TaskAt(thread, time_us);
}

size_t TaskStepsReader::steps_kept() const {
  return window_ == nullptr ? 0 : window_->steps();
}

bool TaskStepsReader::ReadNames(absl::flat_hash_set<uint32_t> tasks) {
  names_.KeepOnly(std::move(tasks));
  return pymemrun::ReadNames(file_, &names_);
}

bool ReadTaskSteps(RereadFile* file, TaskStepsReader* steps, int* code) {
  const bool read = file->Read(steps);
  if (read && file->Has(Recorded::kTasks)) return true;
  *code = read ? file->code() : kExitFailed;
  return false;
}

void TaskTimeline::Add(uint32_t thread, uint32_t task, uint64_t begin_us,
                       uint64_t end_us) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  std::vector<Step>& steps = threads_[thread].steps;
  if (steps.empty()) some_.push_back(thread);
  steps.push_back({begin_us, end_us, task});
  ++steps_;
}

// A thread without steps is forgotten, so that a program with many short
// threads needs little memory.
void TaskTimeline::Forget(uint64_t before_us) {
  steps_ = 0;
  const auto ended = [before_us](const Step& step) {
    return step.end_us < before_us;
  };
  const auto has_none = [&](uint32_t thread) {
    std::vector<Step>& steps = threads_[thread].steps;
    steps.erase(std::remove_if(steps.begin(), steps.end(), ended), steps.end());
    steps_ += steps.size();
    if (steps.empty()) threads_[thread] = Thread();
    return steps.empty();
  };
  some_.erase(std::remove_if(some_.begin(), some_.end(), has_none),
              some_.end());
}

void TaskTimeline::MakeTurns() {
  for (const uint32_t thread : some_) MakeTurnsOf(&threads_[thread]);
}

// Times of events are whole microseconds: a step includes its last one, unless
// another step starts in it. Steps may be nested. A stack of open steps yields
// the innermost one at each time, and its caller's again when it ends.
void TaskTimeline::MakeTurnsOf(Thread* thread) {
  std::vector<Step>& steps = thread->steps;
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) {
                     return a.begin_us != b.begin_us ? a.begin_us < b.begin_us
                                                     : a.end_us > b.end_us;
                   });
  std::vector<Turn>& turns = thread->turns;
  turns.clear();
  thread->last = 0;
  const auto turn_to = [&turns](uint64_t time_us, uint32_t task) {
    if (!turns.empty() && turns.back().time_us == time_us) turns.pop_back();
    if (turns.empty() || turns.back().task != task) {
      turns.push_back({time_us, task});
    }
  };
  std::vector<Step> open;
  const auto close_until = [&](uint64_t time_us) {
    while (!open.empty() && open.back().end_us < time_us) {
      const uint64_t end_us = open.back().end_us;
      open.pop_back();
      // In a damaged file an outer step may end earlier than an inner one.
      while (!open.empty() && open.back().end_us <= end_us) open.pop_back();
      turn_to(end_us + 1, open.empty() ? 0 : open.back().task);
    }
  };
  for (const Step& step : steps) {
    close_until(step.begin_us);
    open.push_back(step);
    turn_to(step.begin_us, step.task);
  }
  close_until(~uint64_t{0});
}

// The turn found last is tried first, then a binary search.
uint32_t TaskTimeline::TaskAt(uint32_t thread, uint64_t time_us) const {
  if (thread >= threads_.size()) return 0;
  const std::vector<Turn>& turns = threads_[thread].turns;
  size_t& last = threads_[thread].last;
  if (last < turns.size() && turns[last].time_us <= time_us &&
      (last + 1 == turns.size() || time_us < turns[last + 1].time_us)) {
    return turns[last].task;
  }
  const auto next = std::upper_bound(
      turns.begin(), turns.end(), time_us,
      [](uint64_t time, const Turn& turn) { return time < turn.time_us; });
  if (next == turns.begin()) return 0;
  last = next - turns.begin() - 1;
  return turns[last].task;
}

}  // namespace pymemrun
