// Base-128 varints, as protobuf's: the lengths of records, and what the index
// of frames looks at inside them.
#ifndef PYMEMRUN_FORMAT_STREAM_VARINT_H_
#define PYMEMRUN_FORMAT_STREAM_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Writes `value` as a varint of at most 10 bytes, returns the end.
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

// Takes a varint off the front of `bytes`; false: no 64-bit varint is there.
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
