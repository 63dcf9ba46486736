// The run file, as far as the script may change it: its name. GIL.
#ifndef PYMEMRUN_TRACER_SESSION_RUN_FILE_H_
#define PYMEMRUN_TRACER_SESSION_RUN_FILE_H_

#include <Python.h>
#include <limits.h>

namespace pymemrun {

class RunFile {
 public:
  // Its absolute path, which must stay; null: there is no file.
  void Set(const char* path) { path_ = path; }
  // As the script has named it, or as it was made; null: there is no file.
  const char* path() const { return renamed_[0] != '\0' ? renamed_ : path_; }
  // Something is recorded from here on: its name is final.
  void Begin() { begun_ = true; }
  // Gives it the name `path`, anything that os.fspath takes. Returns false with
  // an exception: OSError, FileExistsError among them; ValueError; RuntimeError
  // after Begin(). Without a file it does nothing.
  bool Rename(PyObject* path);

 private:
  bool RenameTo(const char* name, PyObject* given);

  const char* path_ = nullptr;
  char renamed_[PATH_MAX] = "";
  bool begun_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_RUN_FILE_H_
