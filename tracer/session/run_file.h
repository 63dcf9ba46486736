// The run file, as far as the script may change it: its name. GIL.
#ifndef PYMEMRUN_TRACER_SESSION_RUN_FILE_H_
#define PYMEMRUN_TRACER_SESSION_RUN_FILE_H_

#include <Python.h>

namespace pymemrun {

class RunFile {
 public:
  // Its absolute path, which must stay; null: there is no file.
  void Set(const char* path) { path_ = path; }
  // Something is recorded from here on: its name is final.
  void Begin() { begun_ = true; }
  // Gives it the name `path`, anything that os.fspath takes. Returns false with
  // an exception: OSError, FileExistsError among them; ValueError; RuntimeError
  // after Begin(). Without a file it does nothing.
  bool Rename(PyObject* path);

 private:
  bool RenameTo(const char* path, PyObject* given) const;

  const char* path_ = nullptr;
  bool begun_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_RUN_FILE_H_
