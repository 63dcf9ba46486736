#include "readers/run/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "readers/run/follow_watch.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Waits shorter than this are not reported.
constexpr absl::Duration kQuietStart = absl::Milliseconds(300);
constexpr absl::Duration kPatience = absl::Seconds(10);
// The limit for all waits of this process: many files may have locks that are
// never released.
constexpr absl::Duration kPatienceForAll = absl::Seconds(20);

// Like WaitForWriter(). Reports the wait on a terminal.
void WaitUntilWritten(int fd, absl::string_view shown_name) {
  static std::atomic<int64_t> waited_ns = 0;
  const absl::Duration left =
      kPatienceForAll - absl::Nanoseconds(waited_ns.load());
  FdSink terminal(isatty(STDERR_FILENO) ? STDERR_FILENO : -1);
  bool shown = false;
  absl::Duration waited;
  WaitForWriter(fd, std::min(kPatience, left), [&](absl::Duration so_far) {
    waited = so_far;
    if (shown || so_far < kQuietStart) return true;
    shown = true;
    terminal
        .Append(
            absl::StrCat("waiting for the collector to finish ", shown_name))
        .IgnoreError();
    return true;
  });
  // Returns to the start of the line, and erases it (ECMA-48, EL).
  if (shown) terminal.Append("\r\x1b[K").IgnoreError();
  waited_ns += absl::ToInt64Nanoseconds(waited);
}

}  // namespace

absl::StatusOr<std::unique_ptr<InputFile>> InputFile::Open(
    const std::string& path) {
  if (path == "-") {
    WaitUntilWritten(STDIN_FILENO, "standard input");
    return std::unique_ptr<InputFile>(
        new InputFile(STDIN_FILENO, path, "standard input", 0));
  }
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::NotFoundError(strerror(errno));
  struct stat info;
  if (fstat(fd, &info) != 0) {
    const absl::Status status = absl::NotFoundError(strerror(errno));
    close(fd);
    return status;
  }
  if (S_ISDIR(info.st_mode)) {
    close(fd);
    // A folder that has run files stands for them: see WithFolders().
    return absl::InvalidArgumentError(
        "expected run files (*.pb) in this folder, found none");
  }
  const std::string shown_name = TerminalText(path);
  uint64_t size = 0;
  if (S_ISREG(info.st_mode)) {
    WaitUntilWritten(fd, shown_name);
    size = fstat(fd, &info) == 0 ? info.st_size : 0;
  }
  return std::unique_ptr<InputFile>(new InputFile(fd, path, shown_name, size));
}

InputFile::~InputFile() {
  if (fd_ != STDIN_FILENO) close(fd_);
}

absl::StatusOr<size_t> FollowSource::Read(char* buffer, size_t size) {
  for (;;) {
    // Asked before reading, so that everything written before the end is read.
    const bool done = done_();
    absl::StatusOr<size_t> read = source_->Read(buffer, size);
    if (!read.ok() || *read > 0 || done) return read;
    if (!idle_()) return 0;
    absl::SleepFor(poll_);
  }
}

Progress::~Progress() {
  if (shown_percent_.load() >= 0) show_("\r\x1b[K");
}

// Several threads may call this: the one that raises the percentage prints it.
void Progress::Add(uint64_t bytes) {
  if (total_bytes_ == 0) return;
  const uint64_t done = done_bytes_.fetch_add(bytes) + bytes;
  const int percent = static_cast<int>(
      std::min<double>(100, 100.0 * static_cast<double>(done) / total_bytes_));
  int shown = shown_percent_.load();
  while (percent > shown) {
    if (!shown_percent_.compare_exchange_weak(shown, percent)) continue;
    constexpr int kWidth = 40;
    const int filled = percent * kWidth / 100;
    show_(absl::StrCat("\r[", std::string(filled, '#'),
                       std::string(kWidth - filled, ' '), "] ", percent, " %"));
    return;
  }
}

absl::StatusOr<size_t> ProgressSource::Read(char* buffer, size_t size) {
  absl::StatusOr<size_t> read = source_->Read(buffer, size);
  if (read.ok()) {
    progress_->Add(*read);
    position_ += *read;
  }
  return read;
}

absl::Status ProgressSource::Seek(uint64_t offset) {
  absl::Status status = source_->Seek(offset);
  if (!status.ok()) return status;
  if (offset > position_) progress_->Add(offset - position_);
  position_ = offset;
  return status;
}

}  // namespace pymemrun
