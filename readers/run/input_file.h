// The sources of a reader's bytes: a file or standard input, a growing file,
// and a progress line.
#ifndef PYMEMRUN_READERS_RUN_INPUT_FILE_H_
#define PYMEMRUN_READERS_RUN_INPUT_FILE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// An open file; closed with the object unless it is standard input.
class InputFile {
 public:
  // "-" is standard input. Fails with the system's reason, also for a
  // directory.
  static absl::StatusOr<std::unique_ptr<InputFile>> Open(
      const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  // For messages: escaped; "standard input" for "-".
  const std::string& shown_name() const { return shown_name_; }
  uint64_t size_bytes() const { return size_bytes_; }  // 0: unknown

 private:
  InputFile(int fd, std::string path, std::string shown_name,
            uint64_t size_bytes)
      : fd_(fd),
        path_(std::move(path)),
        shown_name_(std::move(shown_name)),
        size_bytes_(size_bytes) {}

  const int fd_;
  const std::string path_;
  const std::string shown_name_;
  const uint64_t size_bytes_;
};

// A growing file: at its end Read() waits for more, and returns 0 only when
// done() returns true. Calls idle() before each wait, to flush what was
// printed. When idle() returns false, it stops waiting for good.
class FollowSource final : public ByteSource {
 public:
  FollowSource(ByteSource* source, std::function<bool()> done,
               std::function<bool()> idle, absl::Duration poll)
      : source_(source),
        done_(std::move(done)),
        idle_(std::move(idle)),
        poll_(poll) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  ByteSource* const source_;
  const std::function<bool()> done_;
  const std::function<bool()> idle_;
  const absl::Duration poll_;
};

// How much of all input has been read: one line that is rewritten, and wiped at
// the end. Thread safe.
class Progress {
 public:
  // `show` gets the bytes to print. Shows nothing for a total of 0.
  Progress(uint64_t total_bytes, std::function<void(absl::string_view)> show)
      : total_bytes_(total_bytes), show_(std::move(show)) {}
  ~Progress();
  void Add(uint64_t bytes);

 private:
  const uint64_t total_bytes_;
  const std::function<void(absl::string_view)> show_;
  std::atomic<uint64_t> done_bytes_{0};
  std::atomic<int> shown_percent_{-1};
};

// Passes bytes on, and counts them in a Progress. Both must outlive it.
class ProgressSource final : public ByteSource {
 public:
  ProgressSource(ByteSource* source, Progress* progress)
      : source_(source), progress_(progress) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;
  // Skipped bytes count as read.
  absl::Status Seek(uint64_t offset) override;

 private:
  ByteSource* const source_;
  Progress* const progress_;
  uint64_t position_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_INPUT_FILE_H_
