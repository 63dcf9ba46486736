#include "tracer/session/run_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tracer/base/hot_state.h"
#include "tracer/ring/event_ring.h"
#include "tracer/session/ring_lock.h"

namespace pymemrun {
namespace {

// Makes `path` absolute. Returns the length, or 0 with errno set.
size_t MakeAbsolute(const char* path, char* buffer, size_t size) {
  buffer[0] = '\0';
  if (path[0] != '/' && getcwd(buffer, size) == nullptr) return 0;
  const size_t at = strlen(buffer);
  const int added =
      snprintf(buffer + at, size - at, "%s%s", path[0] != '/' ? "/" : "", path);
  if (added >= 0 && static_cast<size_t>(added) < size - at) {
    return at + static_cast<size_t>(added);
  }
  errno = ENAMETOOLONG;
  return 0;
}

}  // namespace

// The collector writes by descriptor, so renaming the file is enough.
// RENAME_NOREPLACE: an existing file is never lost.
bool RunFile::RenameTo(const char* name, PyObject* given) {
  char absolute[PATH_MAX];
  const size_t length = MakeAbsolute(name, absolute, sizeof(absolute));
  if (length == 0 ||
      renameat2(AT_FDCWD, path(), AT_FDCWD, absolute, RENAME_NOREPLACE) != 0) {
    PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, given);
    return false;
  }
  memcpy(renamed_, absolute, length + 1);
  const RingLock lock;
  const uint32_t bytes = static_cast<uint32_t>(length);
  const Piece pieces[] = {{&bytes, sizeof(bytes)}, {absolute, length}};
  PutPayload(Hot(), ControlKind::kOutput, 0, 0, pieces, 2);
  return true;
}

bool RunFile::Rename(PyObject* path) {
  if (path_ == nullptr || Hot().page == nullptr) return true;
  if (begun_) {
    PyErr_SetString(PyExc_RuntimeError,
                    "output: the run has already started; run with --paused");
    return false;
  }
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(path, &bytes) == 0) return false;
  const char* text = PyBytes_AsString(bytes);
  bool renamed = false;
  if (text[0] == '\0' || strcmp(text, "-") == 0) {
    PyErr_SetString(PyExc_ValueError, "output: expected the path of a file");
  } else {
    renamed = RenameTo(text, path);
  }
  Py_DECREF(bytes);
  return renamed;
}

}  // namespace pymemrun
