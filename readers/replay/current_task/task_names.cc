#include "readers/replay/current_task/task_names.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

class NameReader final : public ReplayVisitor {
 public:
  explicit NameReader(TaskNames* names) : names_(*names) {}
  HeapUse heap_use() const override { return HeapUse::kNone; }
  void OnTask(const TaskDef& task) override { names_.Add(task); }
  void Finish() override {}

 private:
  TaskNames& names_;
};

}  // namespace

void TaskNames::KeepOnly(absl::flat_hash_set<uint32_t> tasks) {
  keeps_only_ = true;
  only_ = std::move(tasks);
}

// A task that does not fit is labelled by its number. any_lost() says that the
// file should be read again for the names needed.
void TaskNames::Add(const TaskDef& task) {
  if (keeps_only_ && !only_.contains(task.task())) return;
  if (tasks_.size() >= most_ && !tasks_.contains(task.task())) {
    any_lost_ = true;
    return;
  }
  Task& kept = tasks_[task.task()];
  kept.stack = task.stack();
  kept.name = names_.Keep(task.name());
  if (kept.name == NamePool::kNoRoom) {
    any_lost_ = true;
    kept.name = {};
  }
}

// Labels are made when they are asked for: most tasks are never shown.
absl::string_view TaskNames::Label(uint32_t task) const {
  const auto found = tasks_.find(task);
  std::string label(Name(task));
  if (label.empty()) label = absl::StrCat("task ", task);
  if (found == tasks_.end()) return labels_.Keep(label);
  const absl::string_view function =
      index_->ResolveStack(found->second.stack).qualname;
  if (!function.empty() && function != found->second.name) {
    absl::StrAppend(&label, " ", function);
  }
  return labels_.Keep(label);
}

absl::string_view TaskNames::Name(uint32_t task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() ? found->second.name : absl::string_view();
}

uint32_t TaskNames::Stack(uint32_t task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() ? found->second.stack : 0;
}

bool ReadNames(RereadFile* file, TaskNames* names) {
  NameReader reader(names);
  return file->Read(&reader);
}

}  // namespace pymemrun
