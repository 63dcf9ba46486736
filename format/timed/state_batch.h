// StateBatch: what threads do, to columns and back; and SchedBatch back. The
// collector and tests encode; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_TIMED_STATE_BATCH_H_
#define PYMEMRUN_FORMAT_TIMED_STATE_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "format/timed/timed_entries.h"
#include "format/timed/timed_events.h"

namespace pymemrun {

// Not thread safe.
class StateBatchEncoder {
 public:
  // Most entries in a batch that is written.
  static constexpr size_t kMaxEntries = size_t{1} << 15;

  // An event that is dated before the last one gets the time of that.
  void Append(const StateEvent& event);
  void AddLost(uint64_t switches) { batch_.set_lost(batch_.lost() + switches); }
  size_t entries() const { return static_cast<size_t>(batch_.thread_size()); }
  bool empty() const { return entries() == 0 && batch_.lost() == 0; }
  // Moves the entries to `batch`, and is empty then.
  void Take(StateBatch* batch);

 private:
  StateBatch batch_;
  TimedEntries entries_;
};

// Gives the entries of a batch, some at a time. The batch must outlive it.
class StateBatchDecoder {
 public:
  // Checks everything but whether the threads are defined: lengths of columns,
  // the kinds of actions and reasons, times. *thread becomes at least the
  // highest thread. Fails with kDataLoss.
  static absl::Status Check(const StateBatch& batch, uint32_t* thread);

  // REQUIRES: Check() found the batch good, and its threads are defined.
  explicit StateBatchDecoder(const StateBatch& batch)
      : batch_(batch), cursor_(batch) {}
  // Fills up to `size` events; returns how many, 0 at the end.
  size_t Next(StateEvent* events, size_t size);

 private:
  void Complete(StateEvent* event);

  const StateBatch& batch_;
  TimedCursor<StateBatch> cursor_;
  int seen_ = 0, other_ = 0;
};

// The same for a SchedBatch.
class SchedBatchDecoder {
 public:
  static absl::Status Check(const SchedBatch& batch, uint32_t* thread);

  explicit SchedBatchDecoder(const SchedBatch& batch) : batch_(batch) {}
  size_t Next(SchedSample* samples, size_t size);

 private:
  const SchedBatch& batch_;
  int row_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_TIMED_STATE_BATCH_H_
