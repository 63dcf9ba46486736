#include "readers/python/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/python/python_values.h"
#include "readers/run/follow_watch.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

// How long to wait for a file that is almost complete.
constexpr absl::Duration kPatience = absl::Seconds(10);

// Returns a negative number on failure: errno has the reason, or a Python error
// is set.
int OpenToRead(const std::string& path) {
  const py::gil_scoped_release others_may_run;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  struct stat info;
  int error = 0;
  if (fstat(fd, &info) != 0) {
    error = errno;
  } else if (S_ISDIR(info.st_mode)) {
    error = EISDIR;
  } else if (lseek(fd, 0, SEEK_CUR) < 0) {
    error = errno;  // a pipe cannot be read more than once
  }
  if (error == 0) {
    bool interrupted = false;
    // Ctrl-C ends the wait: within C code Python's signal handlers run only in
    // PyErr_CheckSignals().
    WaitForWriter(fd, kPatience, [&](absl::Duration) {
      const py::gil_scoped_acquire gil;
      interrupted = PyErr_CheckSignals() != 0;
      return !interrupted;
    });
    if (!interrupted) return fd;
  }
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

std::shared_ptr<const RunFile> RunFile::Open(py::handle path) {
  const auto bytes =
      py::module_::import("os").attr("fsencode")(path).cast<std::string>();
  // As open() of Python does: the system would take the path up to there.
  if (bytes.find('\0') != std::string::npos) {
    throw py::value_error("embedded null byte");
  }
  const int fd = OpenToRead(bytes);
  if (fd < 0) {
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
    throw py::error_already_set();
  }
  return std::shared_ptr<const RunFile>(new RunFile(fd, TerminalText(bytes)));
}

RunFile::~RunFile() { close(fd_); }

uint64_t RunFile::SizeBytes() const {
  struct stat info;
  return fstat(fd_, &info) == 0 ? info.st_size : 0;
}

ReadResult RunFile::Read(RecordVisitor* visitor) const {
  RunFileSource source(this);
  ReadResult result;
  absl::Status status;
  {
    const py::gil_scoped_release others_may_run;
    status = ReadStream(&source, StreamReader::Options(), visitor, &result);
  }
  if (!status.ok()) Raise(status);
  return result;
}

// What is wrong with the content is a ValueError; the rest is the system's.
void RunFile::Raise(const absl::Status& status) const {
  const std::string message =
      absl::StrCat(shown_name_, ": ", TerminalText(status.message()));
  const bool is_content = absl::IsInvalidArgument(status) ||
                          absl::IsFailedPrecondition(status) ||
                          absl::IsDataLoss(status);
  PyErr_SetObject(is_content ? PyExc_ValueError : PyExc_OSError,
                  PythonText(message).ptr());
  throw py::error_already_set();
}

// pread() leaves the descriptor's position alone, so several readings share it.
// Python's signal handlers run between two parts.
absl::StatusOr<size_t> RunFileSource::Read(char* buffer, size_t size) {
  {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  ssize_t count;
  do {
    count = pread(file_.fd(), buffer, size, static_cast<off_t>(at_));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return absl::UnavailableError(strerror(errno));
  at_ += count;
  return static_cast<size_t>(count);
}

}  // namespace pymemrun
