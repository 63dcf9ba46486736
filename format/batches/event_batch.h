// EventBatch: rows to columns, and back. The collector and tests encode;
// RecordDecoder decodes.
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

// The rows that EventBatch holds, one struct each.

// One logged event, or one kept as context.
struct Row {
  uint64_t number;
  uint64_t time_us;
  uint64_t rss_bytes;
  int64_t drss_bytes;
  uint32_t site;    // defined: OnSite has been called with it
  uint32_t thread;  // defined
  uint32_t stack;   // 0 or defined
  What what;
  bool context;  // PREV
  bool exact;    // rss_bytes is statm's value
  // Of a RETURN whose CALL is known: how many events before it that was, how
  // long ago, and what RSS has changed by since. Else 0.
  uint64_t call_events;
  uint64_t call_us;
  int64_t call_drss;
};

// The caller counts the rows, from 0 on: it states of a row what is not as in
// the row before, and gives each row's site. Not thread safe.
class EventBatchEncoder {
 public:
  // REQUIRES: max_rows is below 2^21, and no batch has more rows.
  explicit EventBatchEncoder(size_t max_rows);

  // Of row 0; `rss_bytes` before its step.
  void Begin(uint64_t number, uint64_t time_us, uint32_t thread,
             uint64_t rss_bytes);
  // Of each row, by id: here is where the next one's is written as a varint.
  // There is room for 16 bytes more than the rows need.
  uint8_t* site_end() const { return site_.end(); }
  void set_site_end(uint8_t* end) { site_.set_end(end); }
  // At most once each for a row; rows rise.
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

  // Of a RETURN: its CALL was so many events and microseconds before it.
  void SetCall(uint32_t row, uint64_t events, uint64_t us, int64_t drss_bytes) {
    call_at_.Append(row);
    call_events_.Append(events);
    call_us_.Append(us);
    call_drss_.Append(ZigZag(drss_bytes));
  }

  // About how large the record would be now.
  size_t size_bytes() const { return record_.size_bytes(); }
  // The batch of so many rows as a serialised pymemrun.Record, valid until the
  // next call.
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

// Gives the rows of a batch, some at a time. The batch must outlive it.
class EventBatchDecoder {
 public:
  // Checks everything but whether the ids are defined: lengths of parallel
  // columns, distances within the batch, overflow, 0 where an id is needed,
  // numbers from `next_number` on. Fails with kDataLoss. On success *ids are
  // the highest ids, and *end_number the last row's number + 1.
  static absl::Status Check(const EventBatch& batch, uint64_t next_number,
                            BatchIds* ids, uint64_t* end_number);

  // `site_what` gives each SiteDef's kind, by id.
  // REQUIRES: Check() found the batch good, and its ids are defined.
  EventBatchDecoder(const EventBatch& batch,
                    const std::vector<What>& site_what);
  // Fills up to `size` rows; returns how many, 0 at the end. Only a RETURN gets
  // its call: what damage took away may have been the definition of its site.
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
