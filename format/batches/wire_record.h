// A record in protobuf's wire format, made without protobuf objects. Used by
// the encoders of batches.
#ifndef PYMEMRUN_FORMAT_BATCHES_WIRE_RECORD_H_
#define PYMEMRUN_FORMAT_BATCHES_WIRE_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/batches/sparse_column.h"
#include "format/stream/varint.h"

namespace pymemrun {

// Its fields are members of the encoder that has it, behind it and in the order
// of their numbers. Not thread safe.
class WireRecord {
 public:
  static constexpr size_t kMaxVarintBytes = 10;
  // Tag and length of a field.
  static constexpr size_t kMaxHeadBytes = 2 + 5;
  enum WireType { kVarint = 0, kDelimited = 2 };

  class Field {
   public:
    Field(WireRecord* record, int number) : number_(number) {
      record->fields_.push_back(this);
    }
    virtual ~Field() = default;
    Field(const Field&) = delete;
    Field& operator=(const Field&) = delete;

   protected:
    uint8_t* PutTag(uint8_t* out, WireType type) const {
      return PutVarint(out, static_cast<uint64_t>(number_) << 3 | type);
    }

   private:
    friend class WireRecord;
    virtual size_t max_bytes() const = 0;
    // Writes it whole, and returns the end.
    virtual uint8_t* Put(uint8_t* out) const = 0;
    virtual void Clear() = 0;

    const int number_;
  };

  // About how large the record would be now, and not less.
  size_t size_bytes() const {
    size_t bytes = kMaxHeadBytes;
    for (const Field* field : fields_) bytes += field->max_bytes();
    return bytes;
  }
  // The serialised pymemrun.Record with all of it as its one field `number`.
  // Valid until the next call.
  absl::string_view Serialize(int number) {
    const size_t needed = size_bytes();
    if (capacity_ < needed) {
      capacity_ = needed + needed / 2;
      bytes_.reset(new uint8_t[capacity_]);
    }
    // The body first, behind the most room that its head can need.
    uint8_t* const body = bytes_.get() + kMaxHeadBytes;
    uint8_t* end = body;
    for (const Field* field : fields_) end = field->Put(end);
    uint8_t head[2 * kMaxVarintBytes];
    uint8_t* at =
        PutVarint(head, static_cast<uint64_t>(number) << 3 | kDelimited);
    at = PutVarint(at, static_cast<uint64_t>(end - body));
    uint8_t* const begin = body - (at - head);
    std::memcpy(begin, head, static_cast<size_t>(at - head));
    return {reinterpret_cast<const char*>(begin),
            static_cast<size_t>(end - begin)};
  }
  void Clear() {
    for (Field* field : fields_) field->Clear();
  }

 private:
  std::vector<Field*> fields_;
  size_t capacity_ = 0;
  std::unique_ptr<uint8_t[]> bytes_;
};

// A field of one number, which Clear() leaves.
class WireScalar final : public WireRecord::Field {
 public:
  using Field::Field;
  uint64_t value = 0;

 private:
  size_t max_bytes() const override { return 1 + WireRecord::kMaxVarintBytes; }
  uint8_t* Put(uint8_t* out) const override {
    if (value == 0) return out;  // proto3: the default is not written
    return PutVarint(PutTag(out, WireRecord::kVarint), value);
  }
  void Clear() override {}
};

// The columns of a batch while it fills, as the packed varints that its record
// will hold.

// Largest entry of a column, in bytes.
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

#endif  // PYMEMRUN_FORMAT_BATCHES_WIRE_RECORD_H_
