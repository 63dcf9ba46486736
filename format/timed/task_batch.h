// TaskBatch: steps of tasks to columns, and back. The collector and tests
// encode; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_TIMED_TASK_BATCH_H_
#define PYMEMRUN_FORMAT_TIMED_TASK_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "format/timed/timed_entries.h"
#include "format/timed/timed_events.h"

namespace pymemrun {

// Not thread safe.
class TaskBatchEncoder {
 public:
  // Of the largest batch that is written.
  static constexpr size_t kMaxEntries = size_t{1} << 15;

  // An event that is dated before the last one gets the time of that, and what
  // lies beyond a limit is cut to it.
  void Append(const TaskEvent& event);
  size_t entries() const { return static_cast<size_t>(batch_.thread_size()); }
  // Moves the entries to `batch`, and is empty then.
  void Take(TaskBatch* batch);

 private:
  TaskBatch batch_;
  TimedEntries entries_;
};

// Gives the entries of a batch, some at a time. The batch must outlive it.
class TaskBatchDecoder {
 public:
  // The highest ids that a batch refers to.
  struct Ids {
    uint32_t thread = 0, stack = 0;
  };
  // Checks everything but whether the ids are defined: lengths of columns, the
  // kinds of actions, times and sizes. Fails with kDataLoss.
  static absl::Status Check(const TaskBatch& batch, Ids* ids);

  // REQUIRES: Check() found the batch good, and its ids are defined.
  explicit TaskBatchDecoder(const TaskBatch& batch)
      : batch_(batch), cursor_(batch) {}
  // Fills up to `size` events; returns how many, 0 at the end.
  size_t Next(TaskEvent* events, size_t size);

 private:
  const TaskBatch& batch_;
  TimedCursor<TaskBatch> cursor_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_TIMED_TASK_BATCH_H_
