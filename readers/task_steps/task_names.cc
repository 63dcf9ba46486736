#include "readers/task_steps/task_names.h"

#include "absl/strings/str_cat.h"

namespace pymemrun {

void TaskNames::Add(const TaskDef& task, const RunIndex& index) {
  if (tasks_.size() >= kMost && !tasks_.contains(task.task())) return;
  const SourceLocation where = index.ResolveStack(task.stack());
  Task& kept = tasks_[task.task()];
  kept.stack = task.stack();
  kept.name = names_.Keep(task.name());
  kept.label = names_.Keep(absl::StrCat(
      task.name().empty() ? absl::StrCat("task ", task.task()) : task.name(),
      where.qualname.empty() || where.qualname == task.name()
          ? ""
          : absl::StrCat(" ", where.qualname)));
}

absl::string_view TaskNames::Label(uint32_t task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() ? found->second.label
                               : names_.Keep(absl::StrCat("task ", task));
}

absl::string_view TaskNames::Name(uint32_t task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() ? found->second.name : absl::string_view();
}

uint32_t TaskNames::Stack(uint32_t task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() ? found->second.stack : 0;
}

}  // namespace pymemrun
