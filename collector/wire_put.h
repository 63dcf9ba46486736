// Fields of protobuf's wire format, for records that are made without objects.
#ifndef PYMEMRUN_COLLECTOR_WIRE_PUT_H_
#define PYMEMRUN_COLLECTOR_WIRE_PUT_H_

#include <cstdint>
#include <cstring>

#include "collector/batch_columns.h"

namespace pymemrun {

// Bytes that a field may need before its value, and a value.
inline constexpr size_t kMaxVarintBytes = 10;
inline constexpr size_t kMaxTagBytes = 2;
inline constexpr size_t kMaxFieldHeadBytes = kMaxTagBytes + 5;

enum WireType { kVarint = 0, kDelimited = 2 };

inline uint8_t* PutTag(uint8_t* out, int field, WireType type) {
  return PutVarint(out, static_cast<uint64_t>(field) << 3 | type);
}

inline uint8_t* PutScalar(uint8_t* out, int field, uint64_t value) {
  if (value == 0) return out;  // proto3: the default is not written
  return PutVarint(PutTag(out, field, kVarint), value);
}

inline uint8_t* PutColumn(uint8_t* out, int field, const PackedColumn& column) {
  if (column.size() == 0) return out;
  out = PutVarint(PutTag(out, field, kDelimited), column.size());
  std::memcpy(out, column.data(), column.size());
  return out + column.size();
}

// Puts the tag and length of the record's field before its `bytes`, which begin
// at `body`; there are kMaxFieldHeadBytes free before them. Returns the begin.
inline uint8_t* PutHeadBefore(uint8_t* body, int field, size_t bytes) {
  uint8_t head[kMaxTagBytes + kMaxVarintBytes];
  const size_t head_bytes =
      PutVarint(PutTag(head, field, kDelimited), bytes) - head;
  std::memcpy(body - head_bytes, head, head_bytes);
  return body - head_bytes;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_WIRE_PUT_H_
