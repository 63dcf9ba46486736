// A source whose first bytes are looked at before they are read.
#ifndef PYMEMRUN_READERS_OBJECTS_PEEKED_SOURCE_H_
#define PYMEMRUN_READERS_OBJECTS_PEEKED_SOURCE_H_

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// Not thread safe. The source must outlive it.
class PeekedSource final : public ByteSource {
 public:
  explicit PeekedSource(ByteSource* source) : source_(source) {}

  // Up to `size` first bytes, however many were peeked before; fewer where
  // there are no more, or they cannot be read. REQUIRES: nothing was read yet.
  absl::string_view Peek(size_t size) {
    while (peeked_.size() < size) {
      char buffer[64];
      auto got = source_->Read(buffer,
                               std::min(sizeof(buffer), size - peeked_.size()));
      if (!got.ok() || *got == 0) break;
      peeked_.append(buffer, *got);
    }
    return absl::string_view(peeked_).substr(0, size);
  }
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    if (given_ == peeked_.size()) return source_->Read(buffer, size);
    const size_t count = std::min(size, peeked_.size() - given_);
    std::memcpy(buffer, peeked_.data() + given_, count);
    given_ += count;
    return count;
  }

 private:
  ByteSource* const source_;
  std::string peeked_;
  size_t given_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_PEEKED_SOURCE_H_
