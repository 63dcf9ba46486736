#include "readers/python/arguments.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "text/terminal_text.h"

namespace pymemrun {

namespace py = pybind11;

// os.fsencode() takes str, bytes and os.PathLike, with the file system's
// encoding and surrogate escapes.
std::string PathBytes(py::handle path) {
  return py::module_::import("os").attr("fsencode")(path).cast<std::string>();
}

void RaiseOf(const absl::Status& status, py::handle path) {
  const std::string bytes = PathBytes(path);
  // The status has no errno. Opening the file once more sets it, so that
  // OSError gets its subclass and attributes. O_NONBLOCK: it may be a FIFO by
  // now.
  if (absl::IsNotFound(status) || absl::IsPermissionDenied(status)) {
    const int fd = open(bytes.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
      PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path.ptr());
      throw py::error_already_set();
    }
    close(fd);
  }
  const std::string name = TerminalText(bytes);
  const absl::string_view message = status.message();
  // Some messages begin with the file's name already.
  throw py::value_error(absl::StartsWith(message, name)
                            ? std::string(message)
                            : absl::StrCat(name, ": ", message));
}

void RaiseExpected(const char* expected, py::handle found) {
  throw py::type_error(absl::StrCat("expected ", expected, ", found ",
                                    py::repr(found).cast<std::string>()));
}

// Accepts what has __index__(), as numpy's integers do, but no float.
int64_t WholeNumberOf(py::handle found) {
  if (PyIndex_Check(found.ptr()) == 0) RaiseExpected("a whole number", found);
  PyObject* const index = PyNumber_Index(found.ptr());
  if (index == nullptr) throw py::error_already_set();
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  return overflow == 0 ? number : overflow > 0 ? INT64_MAX : INT64_MIN;
}

uint64_t LimitOf(py::handle limit, uint64_t all) {
  if (limit.is_none()) return all;
  const int64_t most = WholeNumberOf(limit);
  if (most < 0) throw py::value_error("limit: expected 0 or more, or None");
  return static_cast<uint64_t>(most);
}

}  // namespace pymemrun
