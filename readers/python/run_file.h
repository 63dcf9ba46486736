// A run file that Python code has opened.
#ifndef PYMEMRUN_READERS_PYTHON_RUN_FILE_H_
#define PYMEMRUN_READERS_PYTHON_RUN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "format/records/record_visitor.h"
#include "pybind11/pybind11.h"

namespace pymemrun {

// Read from any thread, as often as wanted: each reading has a position of its
// own. It is the file that was there when it was opened, whatever has been
// renamed since.
class RunFile {
 public:
  // Raises OSError. `path` is a str, bytes or os.PathLike.
  static std::shared_ptr<const RunFile> Open(pybind11::handle path);
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  int fd() const { return fd_; }
  // For messages.
  const std::string& shown_name() const { return shown_name_; }
  uint64_t SizeBytes() const;
  // Reads all of it, or what the visitor wants. Raises ValueError where nothing
  // can be read, OSError where the system refuses. REQUIRES: the GIL, which is
  // let go meanwhile.
  ReadResult Read(RecordVisitor* visitor) const;
  // Raises what such a failed reading is.
  [[noreturn]] void Raise(const absl::Status& status) const;

 private:
  RunFile(int fd, std::string shown_name)
      : fd_(fd), shown_name_(std::move(shown_name)) {}

  const int fd_;
  const std::string shown_name_;
};

// Its bytes from the begin on. Raises what a signal's handler raises, such as
// KeyboardInterrupt. The file must outlive it.
class RunFileSource final : public ByteSource {
 public:
  explicit RunFileSource(const RunFile* file) : file_(*file) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override;

 private:
  const RunFile& file_;
  uint64_t at_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_RUN_FILE_H_
