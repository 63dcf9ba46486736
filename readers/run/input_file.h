// Where a reader's bytes come from: a file or standard input, a file that still
// grows, with or without a progress line.
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
  // "-" is standard input. Fails with the system's reason; a directory fails
  // here too.
  static absl::StatusOr<std::unique_ptr<InputFile>> Open(
      const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  // For messages: escaped, "-" is "standard input".
  const std::string& shown_name() const { return shown_name_; }
  uint64_t size_bytes() const { return size_bytes_; }  // 0: not known

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

// A file that still grows: at its end Read() waits for more, and gives 0 only
// once done() says so. Before each wait idle() is called, to hand on what has
// been printed; when it returns false, the wait is over for good.
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

// How much of all input has been read, as one line that is rewritten and in the
// end wiped. Thread safe.
class Progress {
 public:
  // `show` is given the line's bytes. Nothing is shown for a total of 0.
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

class ProgressSource final : public ByteSource {
 public:
  ProgressSource(ByteSource* source, Progress* progress)
      : source_(source), progress_(progress) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;
  // What is skipped counts as read.
  absl::Status Seek(uint64_t offset) override;

 private:
  ByteSource* const source_;
  Progress* const progress_;
  uint64_t position_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_INPUT_FILE_H_
