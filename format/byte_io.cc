#include "format/byte_io.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace pymemrun {

absl::StatusOr<size_t> StringSource::Read(char* buffer, size_t size) {
  const size_t count = std::min(size, bytes_.size());
  if (count != 0) memcpy(buffer, bytes_.data(), count);
  bytes_.remove_prefix(count);
  return count;
}

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

absl::StatusOr<size_t> FdSource::Read(char* buffer, size_t size) {
  for (;;) {
    const ssize_t count = read(fd_, buffer, size);
    if (count >= 0) return static_cast<size_t>(count);
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "read");
  }
}

}  // namespace pymemrun
