// Sinks and sources of bytes. They are interfaces, so that tests can use memory
// and cause every kind of failure. Files use the Fd* classes.
#ifndef PYMEMRUN_FORMAT_STREAM_BYTE_IO_H_
#define PYMEMRUN_FORMAT_STREAM_BYTE_IO_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pymemrun {

// Takes bytes in order. Not thread-safe.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  // Writes all of `bytes`, or fails. After a failure an unknown prefix of
  // `bytes` may have been written; bytes_written() counts it.
  virtual absl::Status Append(absl::string_view bytes) = 0;
  // Number of bytes written so far.
  virtual uint64_t bytes_written() const = 0;
};

// Gives bytes in order. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to `size` bytes into `buffer`. Returns the number of bytes read,
  // or 0 at the end. The end is final, unless the source is a file that still
  // grows.
  virtual absl::StatusOr<size_t> Read(char* buffer, size_t size) = 0;
  // Continues reading at `offset` from the beginning of the source. On failure
  // nothing has changed. The default implementation always fails.
  virtual absl::Status Seek(uint64_t offset);
};

// Keeps the bytes in memory, for tests and tools.
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

// Reads from memory. `bytes` must outlive the source.
class StringSource final : public ByteSource {
 public:
  explicit StringSource(absl::string_view bytes) : bytes_(bytes) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;
  absl::Status Seek(uint64_t offset) override;

 private:
  const absl::string_view bytes_;
  size_t at_ = 0;
};

// Writes to a file descriptor, which the caller owns and closes. Continues
// after a short write or EINTR. Any other error is returned with errno's text,
// and last_errno() then returns errno.
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

// Reads from a file descriptor, which the caller owns and closes.
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
