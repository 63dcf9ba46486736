// Parses the payload of a definition, with checks: the traced program can
// overwrite the ring.
#ifndef PYMEMRUN_COLLECTOR_RING_PAYLOAD_READER_H_
#define PYMEMRUN_COLLECTOR_RING_PAYLOAD_READER_H_

#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "format/limits.h"

namespace pymemrun {

// What is missing reads as zeros and empty strings; ok() then turns false.
class PayloadReader {
 public:
  explicit PayloadReader(absl::string_view bytes) : rest_(bytes) {}

  template <typename Struct>
  Struct Take() {
    Struct value = {};
    if (rest_.size() < sizeof(value)) {
      std::memset(static_cast<void*>(&value), 0, sizeof(value));
      ok_ = false;
      rest_ = {};
    } else {
      std::memcpy(&value, rest_.data(), sizeof(value));
      rest_.remove_prefix(sizeof(value));
    }
    return value;
  }

  absl::string_view TakeString() {
    size_t size = Take<uint32_t>();
    if (size > rest_.size()) {
      ok_ = false;
      size = rest_.size();
    }
    const absl::string_view text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return text;
  }

  // The same, cut to what a record can hold of it.
  absl::string_view TakeName() {
    absl::string_view name = TakeString();
    if (name.size() <= kMaxNameBytes) return name;
    size_t size = kMaxNameBytes;
    // Not within a character of UTF-8.
    while (size > 0 && (name[size] & 0xc0) == 0x80) --size;
    return name.substr(0, size);
  }

  bool ok() const { return ok_; }

 private:
  absl::string_view rest_;
  bool ok_ = true;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_RING_PAYLOAD_READER_H_
