// The part of a source that a reader looks at: bytes from some offset on, with
// more read when they are asked for.
#ifndef PYMEMRUN_FORMAT_STREAM_INPUT_WINDOW_H_
#define PYMEMRUN_FORMAT_STREAM_INPUT_WINDOW_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// Not thread safe. Grows to what is asked for and no further: whoever asks
// must have a bound.
class InputWindow {
 public:
  // The source must outlive the window.
  explicit InputWindow(ByteSource* source) : source_(source) {}

  // The bytes from offset() on, valid until the next Fill() or Consume().
  absl::string_view bytes() const {
    return absl::string_view(buffer_.get() + begin_, end_ - begin_);
  }
  uint64_t offset() const { return offset_; }
  const absl::Status& error() const { return error_; }

  // Makes bytes() at least `size` long. False: the source ended (for now) or
  // failed before; what came is there.
  bool Fill(size_t size) {
    while (end_ - begin_ < size) {
      if (!error_.ok()) return false;
      Reserve(std::max(size, end_ - begin_ + kChunkBytes));
      absl::StatusOr<size_t> count =
          source_->Read(buffer_.get() + end_, capacity_ - end_);
      if (!count.ok()) error_ = count.status();
      if (!count.ok() || *count == 0) return false;
      end_ += *count;
    }
    return true;
  }

  // REQUIRES: size <= bytes().size()
  void Consume(size_t size) {
    begin_ += size;
    offset_ += size;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Lets go of everything before `offset`, without reading it. False: the
  // source cannot, see error(). REQUIRES: offset >= this->offset()
  bool SkipTo(uint64_t offset) {
    if (offset - offset_ <= bytes().size()) {
      Consume(static_cast<size_t>(offset - offset_));
      return true;
    }
    error_ = source_->Seek(offset);
    if (!error_.ok()) return false;
    begin_ = end_ = 0;
    offset_ = offset;
    return true;
  }

 private:
  static constexpr size_t kChunkBytes = 256 * 1024;

  // Makes room for `size` bytes from begin_ on.
  void Reserve(size_t size) {
    if (begin_ + size <= capacity_) return;
    const size_t have = end_ - begin_;
    if (size <= capacity_) {
      memmove(buffer_.get(), buffer_.get() + begin_, have);
    } else {
      // Doubled, so that growing costs linear time.
      const size_t capacity = std::max(size, 2 * capacity_);
      auto larger = std::make_unique_for_overwrite<char[]>(capacity);
      if (have != 0) memcpy(larger.get(), buffer_.get() + begin_, have);
      buffer_ = std::move(larger);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = have;
  }

  ByteSource* const source_;
  absl::Status error_;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;  // in the file, of begin_
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_INPUT_WINDOW_H_
