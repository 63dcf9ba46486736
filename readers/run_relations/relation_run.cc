#include "readers/run_relations/relation_run.h"

namespace pymemrun {
namespace {

constexpr size_t kMostTasks = size_t{1} << 20;

}  // namespace

std::unique_ptr<RelationRun> RelationRun::Read(const std::string& path,
                                               const Console& console) {
  auto file = RereadFile::Open(path, console);
  if (file == nullptr) return nullptr;
  std::unique_ptr<RelationRun> run(new RelationRun(std::move(file), console));
  return run->file_->Read(run.get()) ? std::move(run) : nullptr;
}

void RelationRun::OnTask(const TaskDef& task) {
  if (tasks_.size() >= kMostTasks || task.task() > kMostTasks) return;
  tasks_.push_back(task);
  if (task.task() >= last_of_task_.size()) {
    last_of_task_.resize(task.task() + 1);
  }
  last_of_task_[task.task()] = static_cast<uint32_t>(tasks_.size());
}

absl::string_view RelationRun::TaskName(uint32_t task) const {
  if (task >= last_of_task_.size() || last_of_task_[task] == 0) return "";
  return tasks_[last_of_task_[task] - 1].name();
}

}  // namespace pymemrun
