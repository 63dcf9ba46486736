// Base-128 varints as in protobuf: lengths of records, and fields that the
// index of frames reads.
#ifndef PYMEMRUN_FORMAT_STREAM_VARINT_H_
#define PYMEMRUN_FORMAT_STREAM_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Writes `value` as a varint of at most 10 bytes. Returns the end.
inline uint8_t* PutVarint(uint8_t* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    *out++ = static_cast<uint8_t>(value | 0x80);
  *out++ = static_cast<uint8_t>(value);
  return out;
}

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

// Removes a varint from the front of `bytes`. Returns false if there is no
// varint of at most 64 bits.
inline bool TakeVarint(absl::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes->size() && i < 10; ++i) {
    const uint64_t byte = static_cast<uint8_t>((*bytes)[i]);
    if (i == 9 && byte > 1) return false;
    *value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_VARINT_H_
