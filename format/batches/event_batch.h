// Codec of EventBatch: rows to columns and back. The collector and tests
// encode; RecordDecoder decodes.
#ifndef PYMEMRUN_FORMAT_BATCHES_EVENT_BATCH_H_
#define PYMEMRUN_FORMAT_BATCHES_EVENT_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/batches/sparse_column.h"
#include "format/batches/wire_record.h"
#include "format/trace.pb.h"

namespace pymemrun {

// A logged event, or an event kept as context.
struct Row {
  uint64_t number;
  uint64_t time_us;
  uint64_t rss_bytes;
  int64_t drss_bytes;
  uint32_t site;    // defined by OnSite before
  uint32_t thread;  // defined
  uint32_t stack;   // 0 or defined
  What what;
  bool context;  // PREV
  bool exact;    // rss_bytes is statm's value
  // For a RETURN whose CALL is known: number of events since the CALL, time
  // since it, and change of RSS since it. Otherwise 0.
  uint64_t call_events;
  uint64_t call_us;
  int64_t call_drss;
};

// Encodes rows as differences. The caller numbers the rows from 0, gives the
// site of each row, and calls the other methods only for values that differ
// from the previous row. Not thread-safe.
class EventBatchEncoder {
 public:
  // REQUIRES: max_rows is below 2^21, and no batch has more rows.
  explicit EventBatchEncoder(size_t max_rows);

  // Starts a batch with the state of row 0; `rss_bytes` is RSS before the step
  // of row 0.
  void Begin(uint64_t number, uint64_t time_us, uint32_t thread,
             uint64_t rss_bytes);
  // Where the site id of the next row is written, as a varint. There are 16
  // bytes more than the rows need.
  uint8_t* site_end() const { return site_.end(); }
  void set_site_end(uint8_t* end) { site_.set_end(end); }
  // Call each at most once per row, in the order of rows.
  void SkipNumbers(uint32_t row, uint64_t skip) {
    number_at_.Append(row);
    number_skip_.Append(skip);
  }
  void StepTime(uint32_t row, uint64_t step_us) {
    time_at_.Append(row);
    time_step_.Append(step_us);
  }
  void SetThread(uint32_t row, uint32_t thread) {
    thread_at_.Append(row);
    thread_.Append(thread);
  }
  void StepRss(uint32_t row, int64_t step_bytes, int64_t drss_bytes) {
    rss_at_.Append(row);
    rss_step_.Append(ZigZag(step_bytes));
    drss_.Append(ZigZag(drss_bytes));
  }
  void SetContext(uint32_t row) { context_at_.Append(row); }
  void SetInexact(uint32_t row) { inexact_at_.Append(row); }
  void SetStack(uint32_t row, uint32_t stack) {
    PadStacks(row);
    stack_.Append(stack);
    ++stack_rows_;
  }

  // For a RETURN: number of events and microseconds since its CALL.
  void SetCall(uint32_t row, uint64_t events, uint64_t us, int64_t drss_bytes) {
    call_at_.Append(row);
    call_events_.Append(events);
    call_us_.Append(us);
    call_drss_.Append(ZigZag(drss_bytes));
  }

  // Approximate size of the record so far, in bytes.
  size_t size_bytes() const { return record_.size_bytes(); }
  // Returns the batch of `rows` rows as a serialised pymemrun.Record, valid
  // until the next call.
  absl::string_view Serialize(uint32_t rows);
  void Clear();

 private:
  void PadStacks(uint32_t rows);

  WireRecord record_;
  // What stands in EventBatch under these names.
  PackedColumn site_;
  WireScalar first_number_, first_us_, first_thread_, first_rss_bytes_;
  RowColumn number_at_;
  PackedColumn number_skip_;
  RowColumn time_at_;
  PackedColumn time_step_;
  RowColumn thread_at_;
  PackedColumn thread_;
  RowColumn rss_at_;
  PackedColumn rss_step_, drss_;
  RowColumn context_at_, inexact_at_;
  PackedColumn stack_;
  RowColumn call_at_;
  PackedColumn call_events_, call_us_, call_drss_;

  uint32_t stack_rows_ = 0;  // rows that the stack column covers
};

// Returns the rows of a batch in portions. The batch must outlive it.
class EventBatchDecoder {
 public:
  // Checks lengths of parallel columns, distances, overflow, required ids and
  // numbers from `next_number` on. Does not check whether ids are defined.
  // Fails with kDataLoss. On success sets *ids to the highest ids, and
  // *end_number to the last number + 1.
  static absl::Status Check(const EventBatch& batch, uint64_t next_number,
                            BatchIds* ids, uint64_t* end_number);

  // `site_what` has the kind of each SiteDef, by id. REQUIRES: Check()
  // succeeded, and all ids are defined.
  EventBatchDecoder(const EventBatch& batch,
                    const std::vector<What>& site_what);
  // Fills up to `size` rows. Returns the number filled, 0 at the end. Only a
  // RETURN gets call fields: after damage the site may not be a RETURN.
  size_t Next(Row* rows, size_t size);

 private:
  void TakeCall(Row* row);

  const EventBatch& batch_;
  const std::vector<What>& site_what_;
  SparseCursor number_, time_, thread_, rss_, context_, inexact_, call_;
  uint64_t row_ = 0;
  Row last_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_EVENT_BATCH_H_
