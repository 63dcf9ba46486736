// What tasks of a run are called.
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

// Within bounds: of tasks beyond them no more than the number is known. Not
// thread safe.
class TaskNames {
 public:
  // `index` has the stacks of the definitions, and must outlive it.
  explicit TaskNames(const RunIndex* index, size_t most = kMost)
      : index_(index), most_(most) {}

  // To be called first, if at all: what others are called need not be known.
  void KeepOnly(absl::flat_hash_set<uint32_t> tasks);
  // A task's last definition counts.
  void Add(const TaskDef& task);
  // There were more tasks, or longer names, than are kept.
  bool any_lost() const { return any_lost_; }

  // "Task-7 worker"; of a task without a definition "task 7".
  absl::string_view Label(uint32_t task) const;
  absl::string_view Name(uint32_t task) const;  // "Task-7"
  // StackDef.id of its coroutine's function; 0: not known.
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
  mutable NamePool labels_{kNameBytes};  // that were asked for
  absl::flat_hash_map<uint32_t, Task> tasks_;
};

// Reads the file for them; false: it could not be read, which has been said.
bool ReadNames(RereadFile* file, TaskNames* names);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CURRENT_TASK_TASK_NAMES_H_
