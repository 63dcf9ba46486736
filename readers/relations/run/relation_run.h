// A run file that relations read.
#ifndef PYMEMRUN_READERS_RELATIONS_RUN_RELATION_RUN_H_
#define PYMEMRUN_READERS_RELATIONS_RUN_RELATION_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "readers/replay/moments/run_moments.h"
#include "readers/run/replay_visitor.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// The moment that --at names, and hindsight for a reading up to it.
struct RunAt {
  FoundMoment moment;
  Hindsight hindsight;
};

// The run's definitions, and what was recorded. Not thread safe.
class RelationRun final : public ReplayVisitor {
 public:
  // Reads the file once. Returns null if nothing could be read, and has printed
  // why. `at`: the moment for `blocks`, `pages` and `thread_memory`. The
  // console must outlive it.
  static std::unique_ptr<RelationRun> Read(const std::string& path,
                                           const Moment& at,
                                           const Console& console);
  // The error of a relation whose reading failed.
  static absl::Status NotRead();
  // The error if the run has no such moment. `status`: that of MomentOf().
  static absl::Status NoMoment(const absl::Status& status);

  RereadFile* file() const { return file_.get(); }
  const Header& header() const { return header_; }
  const Moment& at() const { return at_; }
  // Reads the file for the moment at the first call. Fails if the run has no
  // such moment.
  const absl::StatusOr<RunAt>& FindAt();
  // Why the run lacks this; empty: it has it.
  std::string Lacks(Recorded what) const {
    return file_->recorded().Has(what) ? "" : LackText(what);
  }
  // Each task's definitions, in the order of the file.
  const std::vector<TaskDef>& tasks() const { return tasks_; }
  // The last name of a task; empty: it has no name.
  absl::string_view TaskName(uint32_t task) const;

  HeapUse heap_use() const override { return HeapUse::kNone; }
  void OnHeader(const Header& header) override { header_ = header; }
  void OnTask(const TaskDef& task) override;
  void Finish() override {}

 private:
  RelationRun(std::unique_ptr<RereadFile> file, const Moment& at)
      : file_(std::move(file)), at_(at) {}

  const std::unique_ptr<RereadFile> file_;
  const Moment at_;
  std::optional<absl::StatusOr<RunAt>> found_;  // none: not looked for yet
  Header header_;
  std::vector<TaskDef> tasks_;
  std::vector<uint32_t> last_of_task_;  // 1 + index in tasks_; 0: none
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RELATIONS_RUN_RELATION_RUN_H_
