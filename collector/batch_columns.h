// The columns of one EventBatch while it fills, kept as packed varints, and the
// finished record in protobuf's wire format, made without protobuf objects.
#ifndef PYMEMRUN_COLLECTOR_BATCH_COLUMNS_H_
#define PYMEMRUN_COLLECTOR_BATCH_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Writes `value` as a varint of at most 10 bytes, returns the end.
inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}

// Varints one after the other. Space for the worst case is reserved once and
// never checked; the pages that are not reached are never touched.
class PackedColumn {
 public:
  explicit PackedColumn(size_t capacity_bytes)
      : begin_(new uint8_t[capacity_bytes]), end_(begin_.get()) {}

  void Append(uint64_t value) { end_ = PutVarint(end_, value); }
  size_t size() const { return end_ - begin_.get(); }
  const uint8_t* data() const { return begin_.get(); }
  void Clear() { end_ = begin_.get(); }

  // For the hot loop, which keeps the end in a register.
  uint8_t* end() const { return end_; }
  void set_end(uint8_t* end) { end_ = end; }

 private:
  std::unique_ptr<uint8_t[]> begin_;
  uint8_t* end_;
};

// Rows at which a sparse column says something, as distances.
class RowColumn {
 public:
  explicit RowColumn(size_t capacity_bytes) : steps_(capacity_bytes) {}

  // REQUIRES: `row` is above the row of the last call.
  void Append(uint32_t row) {
    steps_.Append(row - last_row_);
    last_row_ = row;
  }
  const PackedColumn& steps() const { return steps_; }
  void Clear() {
    steps_.Clear();
    last_row_ = 0;
  }

 private:
  PackedColumn steps_;
  uint32_t last_row_ = 0;
};

// Not thread safe.
class BatchColumns {
 public:
  // `max_rows` will never be exceeded.
  explicit BatchColumns(size_t max_rows);

  // About how large the record would be now.
  size_t size_bytes() const;
  // The batch as a serialised pymemrun.Record, valid until the next call.
  absl::string_view Serialize();
  void Clear();

  // What stands in EventBatch under these names.
  uint64_t first_number = 0;
  uint64_t first_us = 0;
  uint32_t first_thread = 0;
  uint64_t first_rss_bytes = 0;
  PackedColumn site;
  RowColumn number_at;
  PackedColumn number_skip;
  RowColumn time_at;
  PackedColumn time_step;
  RowColumn thread_at;
  PackedColumn thread;
  RowColumn rss_at;
  PackedColumn rss_step;
  PackedColumn drss;
  RowColumn context_at;
  RowColumn inexact_at;
  PackedColumn stack;

 private:
  // Calls f(field number, column) for all columns in the order of the fields;
  // the scalars stand between `site` and the rest.
  template <typename F>
  void ForEachSparse(F f) const;

  size_t record_capacity_ = 0;
  std::unique_ptr<uint8_t[]> record_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_BATCH_COLUMNS_H_
