// The columns of a batch while it fills, as the packed varints that its record
// will hold. Used by the encoders of batches.
#ifndef PYMEMRUN_FORMAT_BATCHES_PACKED_COLUMN_H_
#define PYMEMRUN_FORMAT_BATCHES_PACKED_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "format/batches/sparse_column.h"
#include "format/batches/wire_record.h"
#include "format/stream/varint.h"

namespace pymemrun {

// Of an entry in a column, at most.
inline constexpr size_t kMaxVarintBytes = WireRecord::kMaxVarintBytes;
inline constexpr size_t kMaxIdBytes = 5;
inline constexpr size_t kMaxRowBytes = 3;  // a batch has fewer than 2^21 rows

inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}

// Varints one after the other. Space for the worst case is reserved once and
// never checked; the pages that are not reached are never touched.
class PackedColumn : public WireRecord::Field {
 public:
  PackedColumn(WireRecord* record, int number, size_t capacity_bytes)
      : Field(record, number),
        begin_(new uint8_t[capacity_bytes]),
        end_(begin_.get()) {}

  void Append(uint64_t value) { end_ = PutVarint(end_, value); }

  // For the hot loop, which keeps the end in a register.
  uint8_t* end() const { return end_; }
  void set_end(uint8_t* end) { end_ = end; }

 protected:
  void Clear() override { end_ = begin_.get(); }

 private:
  size_t size() const { return static_cast<size_t>(end_ - begin_.get()); }
  size_t max_bytes() const override {
    return WireRecord::kMaxHeadBytes + size();
  }
  uint8_t* Put(uint8_t* out) const override {
    if (size() == 0) return out;
    out = PutVarint(PutTag(out, WireRecord::kDelimited), size());
    std::memcpy(out, begin_.get(), size());
    return out + size();
  }

  std::unique_ptr<uint8_t[]> begin_;
  uint8_t* end_;
};

// Rows at which a sparse column says something, as distances.
class RowColumn final : public PackedColumn {
 public:
  RowColumn(WireRecord* record, int number, size_t max_rows)
      : PackedColumn(record, number, max_rows * kMaxRowBytes) {}

  // REQUIRES: `row` is above the row of the last call.
  void Append(uint32_t row) { PackedColumn::Append(last_.StepTo(row)); }

 private:
  void Clear() override {
    PackedColumn::Clear();
    last_ = RowSteps();
  }

  RowSteps last_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_BATCHES_PACKED_COLUMN_H_
