// Where a report goes: standard output, or the file given by -o.
#ifndef PYMEMRUN_READERS_OUTPUT_REPORT_OUTPUT_H_
#define PYMEMRUN_READERS_OUTPUT_REPORT_OUTPUT_H_

#include <sys/stat.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// A file that appears as a whole: an existing file of its name stays until
// Commit(), so a failed command loses nothing. Devices, pipes and other special
// files are written directly. Not thread safe.
class ReplacedFile final : public ByteSink {
 public:
  // Creates no file yet, but checks what could prevent it; fails with the
  // system's reason. An existing file must be writable. A symbolic link is
  // refused, unless it names an open descriptor. With the default mode only the
  // owner may read the new file, whatever the umask, as with run files: reports
  // have arguments and paths, too.
  static absl::StatusOr<std::unique_ptr<ReplacedFile>> Create(
      const std::string& path, mode_t mode = 0600);
  // Removes what was not committed.
  ~ReplacedFile() override;
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  absl::Status Append(absl::string_view bytes) override;
  uint64_t bytes_written() const override { return sink_.bytes_written(); }
  int last_errno() const { return sink_.last_errno(); }
  absl::Status Commit();

  // Whether Commit() replaces an existing file.
  bool ReplacesOne() const { return is_there_ && is_plain_; }
  // Whether Commit() would replace this file. "-" is standard input.
  bool Replaces(const std::string& path) const;

 private:
  ReplacedFile() = default;
  absl::Status Open();

  std::string path_;
  mode_t mode_ = 0600;
  std::string temporary_path_;  // empty: no file yet
  bool is_there_ = false;
  bool is_plain_ = true;  // it does not exist, or is a plain file
  struct stat there_ = {};
  int fd_ = -1;
  FdSink sink_{-1};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_REPORT_OUTPUT_H_
