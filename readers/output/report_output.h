// Where a report goes: standard output, or the file that -o names.
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

// A file that comes to be as a whole: what is there under its name stays until
// Commit(), so a run that fails loses nothing. A device, a pipe or whatever
// else is no plain file is written as it comes. Not thread safe.
class ReplacedFile final : public ByteSink {
 public:
  // Nothing is made yet, but what would stand in the way is found: fails with
  // the system's reason. A file that is there must be one that may be written.
  // A symbolic link is refused, unless it is a name of an open descriptor.
  // With the usual mode the new file is its owner's alone, whatever the umask,
  // as the run file is: reports hold arguments and paths too.
  static absl::StatusOr<std::unique_ptr<ReplacedFile>> Create(
      const std::string& path, mode_t mode = 0600);
  // Takes back what was not committed.
  ~ReplacedFile() override;
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  absl::Status Append(absl::string_view bytes) override;
  uint64_t bytes_written() const override { return sink_.bytes_written(); }
  int last_errno() const { return sink_.last_errno(); }
  absl::Status Commit();

  // Whether another file is there, which Commit() replaces.
  bool ReplacesOne() const { return is_there_ && is_plain_; }
  // Whether it would replace this file. "-" is standard input.
  bool Replaces(const std::string& path) const;

 private:
  ReplacedFile() = default;
  absl::Status Open();

  std::string path_;
  mode_t mode_ = 0600;
  std::string temporary_path_;  // empty: none is there
  bool is_there_ = false;
  bool is_plain_ = true;  // not there, or a plain file
  struct stat there_ = {};
  int fd_ = -1;
  FdSink sink_{-1};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_REPORT_OUTPUT_H_
