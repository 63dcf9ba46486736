// Where a stream's bytes go to and come from. Interfaces, so that tests use
// memory and make each failure happen; files are the Fd* classes.
#ifndef PYMEMRUN_FORMAT_STREAM_BYTE_IO_H_
#define PYMEMRUN_FORMAT_STREAM_BYTE_IO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Takes bytes in order. Not thread safe.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Writes all of `bytes` or fails. After a failure an unknown prefix of
  // `bytes` may have been written; bytes_written() says how many of all.
  virtual absl::Status Append(absl::string_view bytes) = 0;
  virtual uint64_t bytes_written() const = 0;
};

// Gives bytes in order. Not thread safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes into `buffer`. Returns how many came; 0 is the
  // end, for good unless the source is a file that still grows.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t size) = 0;
  // Goes on reading at `offset`, from the source's begin. Fails where that
  // cannot be, and nothing has then changed.
  virtual absl::Status Seek(uint64_t offset);
};

// In memory, for tests and tools.
class StringSink final : public ByteSink {
 public:
  absl::Status Append(absl::string_view bytes) override {
    contents_.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }
  uint64_t bytes_written() const override { return contents_.size(); }
  const std::string& contents() const { return contents_; }

 private:
  std::string contents_;
};

// `bytes` must outlive the source.
class StringSource final : public ByteSource {
 public:
  explicit StringSource(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;
  absl::Status Seek(uint64_t offset) override;

 private:
  const absl::string_view bytes_;
  size_t at_ = 0;
};

// Writes to a descriptor that it does not own. Short writes and EINTR are
// continued; any other error is returned with errno's text, and errno itself is
// last_errno().
class FdSink final : public ByteSink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  absl::Status Append(absl::string_view bytes) override;
  uint64_t bytes_written() const override { return bytes_written_; }
  int last_errno() const { return last_errno_; }

 private:
  int fd_;
  int last_errno_ = 0;
  uint64_t bytes_written_ = 0;
};

// Reads from a descriptor that it does not own.
class FdSource final : public ByteSource {
 public:
  explicit FdSource(int fd) : fd_(fd) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;
  absl::Status Seek(uint64_t offset) override;
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  int fd_;
  uint64_t bytes_read_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_STREAM_BYTE_IO_H_
