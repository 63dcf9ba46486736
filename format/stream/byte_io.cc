#include "format/stream/byte_io.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace pymemrun {

absl::Status ByteSource::Seek(uint64_t) {
  return absl::UnimplementedError("this source cannot seek");
}

absl::StatusOr<size_t> StringSource::Read(char* buffer, size_t size) {
  const size_t count = std::min(size, bytes_.size() - at_);
  if (count != 0) memcpy(buffer, bytes_.data() + at_, count);
  at_ += count;
  return count;
}

absl::Status StringSource::Seek(uint64_t offset) {
  at_ = static_cast<size_t>(std::min<uint64_t>(offset, bytes_.size()));
  return absl::OkStatus();
}

// write(2) may take a part, for example when a disk fills up or a signal comes.
// The loop ends with all bytes written or with the first error.
absl::Status FdSink::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd_, bytes.data(), bytes.size());
    if (count > 0) {
      bytes_written_ += static_cast<uint64_t>(count);
      bytes.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    // No file system is known to answer 0; it must not become an endless loop.
    last_errno_ = count < 0 ? errno : EIO;
    return absl::ErrnoToStatus(
        last_errno_, absl::StrCat("byte ", bytes_written_, ": ", bytes.size(),
                                  " bytes could not be written"));
  }
  return absl::OkStatus();
}

// May return fewer bytes than asked for; 0 is the end.
absl::StatusOr<size_t> FdSource::Read(char* buffer, size_t size) {
  for (;;) {
    const ssize_t count = read(fd_, buffer, size);
    if (count >= 0) {
      bytes_read_ += static_cast<uint64_t>(count);
      return static_cast<size_t>(count);
    }
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "read");
  }
}

// Fails for pipes (ESPIPE).
absl::Status FdSource::Seek(uint64_t offset) {
  if (lseek(fd_, static_cast<off_t>(offset), SEEK_SET) >= 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "seek");
}

}  // namespace pymemrun
