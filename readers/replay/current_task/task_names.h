// Names of a run's tasks.
#ifndef PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_NAMES_H_
#define PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_NAMES_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "format/trace.pb.h"
#include "readers/run/name_pool.h"
#include "readers/run/reread_file.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Memory is bounded: tasks that do not fit have only their number. Not thread
// safe.
class TaskNames {
 public:
  // `index` has the stacks of the definitions and must outlive it.
  explicit TaskNames(const RunIndex* index, size_t most = kMost)
      : index_(index), most_(most) {}

  // Keeps the names of these tasks only. To be called before Add(), if at all.
  void KeepOnly(absl::flat_hash_set<uint32_t> tasks);
  // A task may be defined again: its last definition counts.
  void Add(const TaskDef& task);
  // Tasks, or long names, did not fit.
  bool any_lost() const { return any_lost_; }

  // "Task-7 worker"; "task 7" for a task without a definition.
  absl::string_view Label(uint32_t task) const;
  absl::string_view Name(uint32_t task) const;  // "Task-7"
  // StackDef.id of the function of its coroutine; 0: unknown.
  uint32_t Stack(uint32_t task) const;

 private:
  struct Task {
    absl::string_view name;
    uint32_t stack = 0;
  };
  static constexpr size_t kMost = size_t{1} << 20;
  static constexpr size_t kNameBytes = size_t{64} << 20;

  const RunIndex* index_;
  size_t most_;
  bool any_lost_ = false, keeps_only_ = false;
  absl::flat_hash_set<uint32_t> only_;
  NamePool names_{kNameBytes};
  mutable NamePool labels_{kNameBytes};  // labels that were asked for
  absl::flat_hash_map<uint32_t, Task> tasks_;
};

// Reads the names from the file. Returns false if it cannot be read, and has
// printed why.
bool ReadNames(RereadFile* file, TaskNames* names);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_NAMES_H_
