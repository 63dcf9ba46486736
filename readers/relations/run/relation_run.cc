#include "readers/relations/run/relation_run.h"

#include "absl/strings/str_cat.h"
#include "readers/replay/moments/moment_reading.h"

namespace pymemrun {
namespace {

// Bounds memory: further tasks have no row, and no name.
constexpr size_t kMostTasks = size_t{1} << 20;

absl::StatusOr<RunAt> Find(const RelationRun& run) {
  const auto moments = RunMoments::Of(ReadingOf(run.file()));
  if (moments == nullptr) return RelationRun::NotRead();
  auto found = MomentOf(*moments, run.at(), run.file());
  if (!found.ok()) return RelationRun::NoMoment(found.status());
  return RunAt{*std::move(found), moments->hindsight()};
}

}  // namespace

std::unique_ptr<RelationRun> RelationRun::Read(const std::string& path,
                                               const Moment& at,
                                               const Console& console) {
  auto file = RereadFile::Open(path, console);
  if (file == nullptr) return nullptr;
  std::unique_ptr<RelationRun> run(new RelationRun(std::move(file), at));
  return run->file_->Read(run.get()) ? std::move(run) : nullptr;
}

absl::Status RelationRun::NotRead() {
  return absl::FailedPreconditionError("the run could not be read again");
}

absl::Status RelationRun::NoMoment(const absl::Status& status) {
  if (absl::IsDataLoss(status)) return NotRead();
  return absl::InvalidArgumentError(absl::StrCat("--at: ", status.message()));
}

// Several relations share the moment: finding it may take several readings.
const absl::StatusOr<RunAt>& RelationRun::FindAt() {
  if (!found_.has_value()) found_ = Find(*this);
  return *found_;
}

// The last names are indexed by the task's number, so that is bounded, too.
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
