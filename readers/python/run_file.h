// A run file opened by Python code.
#ifndef PYMEMRUN_READERS_PYTHON_RUN_FILE_H_
#define PYMEMRUN_READERS_PYTHON_RUN_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "format/records/record_visitor.h"
#include "pybind11/pybind11.h"

namespace pymemrun {

// May be read from any thread, any number of times: each reading has a position
// of its own. It stays the file that was opened, whatever has been renamed
// since.
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
  // Reads the whole file, or what the visitor needs. Raises ValueError if
  // nothing can be read, OSError if the system refuses. REQUIRES: the GIL,
  // which is released while it reads.
  ReadResult Read(RecordVisitor* visitor) const;
  // Raises the exception for a failed reading.
  [[noreturn]] void Raise(const absl::Status& status) const;

 private:
  RunFile(int fd, std::string shown_name)
      : fd_(fd), shown_name_(std::move(shown_name)) {}

  const int fd_;
  const std::string shown_name_;
};

// The bytes of a file from its start. Raises what a signal handler raises, such
// as KeyboardInterrupt. The file must outlive it.
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
