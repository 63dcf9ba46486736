// Codec of TaskBatch: steps of tasks to columns and back. The collector and
// tests encode; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_TIMED_TASK_BATCH_H_
#define PYMEMRUN_FORMAT_TIMED_TASK_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "format/timed/timed_entries.h"
#include "format/timed/timed_events.h"

namespace pymemrun {

// Not thread-safe.
class TaskBatchEncoder {
 public:
  // Most entries in a batch that is written.
  static constexpr size_t kMaxEntries = size_t{1} << 15;

  // Adds an event. An event older than the last one gets the time of the last
  // one. Values beyond a limit are cut to it.
  void Append(const TaskEvent& event);
  size_t entries() const { return static_cast<size_t>(batch_.thread_size()); }
  // Moves all entries to `batch`; the encoder is then empty.
  void Take(TaskBatch* batch);

 private:
  TaskBatch batch_;
  TimedEntries entries_;
};

// Returns the entries of a batch in portions. The batch must outlive it.
class TaskBatchDecoder {
 public:
  // Highest ids in a batch.
  struct Ids {
    uint32_t thread = 0, stack = 0;
  };
  // Checks lengths of columns, kinds of actions, times and sizes. Does not
  // check whether ids are defined. Fails with kDataLoss.
  static absl::Status Check(const TaskBatch& batch, Ids* ids);

  // REQUIRES: Check() succeeded, and all ids of the batch are defined.
  explicit TaskBatchDecoder(const TaskBatch& batch)
      : batch_(batch), cursor_(batch) {}
  // Fills up to `size` events. Returns the number filled, 0 at the end.
  size_t Next(TaskEvent* events, size_t size);

 private:
  const TaskBatch& batch_;
  TimedCursor<TaskBatch> cursor_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_TIMED_TASK_BATCH_H_
