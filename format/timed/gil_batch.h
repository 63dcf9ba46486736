// GilBatch: events of the GIL to columns, and back. The collector and tests
// encode; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_TIMED_GIL_BATCH_H_
#define PYMEMRUN_FORMAT_TIMED_GIL_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "format/batches/sparse_column.h"
#include "format/timed/timed_entries.h"
#include "format/timed/timed_events.h"

namespace pymemrun {

// Not thread safe.
class GilBatchEncoder {
 public:
  // Most entries in a batch that is written.
  static constexpr size_t kMaxEntries = size_t{1} << 15;

  // An event that is dated before the last one gets the time of that.
  void Append(const GilEvent& event);
  size_t entries() const {
    return static_cast<size_t>(batch_.time_step_ns_size());
  }
  // Moves the entries to `batch`, and is empty then.
  void Take(GilBatch* batch);

 private:
  GilBatch batch_;
  TimedEntries entries_;
  uint32_t last_gil_ = 0;
  uint32_t gil_row_ = 0;
};

// Gives the entries of a batch, some at a time. The batch must outlive it.
class GilBatchDecoder {
 public:
  // The highest ids that a batch refers to.
  struct Ids {
    uint32_t thread = 0, stack = 0, function = 0;
  };
  // Checks everything but whether the ids are defined: lengths of columns, the
  // kinds of actions, distances within the batch, sums of times. Fails with
  // kDataLoss.
  static absl::Status Check(const GilBatch& batch, Ids* ids);

  // REQUIRES: Check() found the batch good, and its ids are defined.
  explicit GilBatchDecoder(const GilBatch& batch)
      : batch_(batch), cursor_(batch), gil_(batch.gil_at()) {}
  // Fills up to `size` events; returns how many, 0 at the end.
  size_t Next(GilEvent* events, size_t size);

 private:
  void Complete(int row, GilEvent* event);

  const GilBatch& batch_;
  TimedCursor<GilBatch> cursor_;
  SparseCursor gil_;
  uint32_t last_gil_ = 0;
  int hold_ = 0, stack_ = 0, by_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_TIMED_GIL_BATCH_H_
