// Dumps of the object graph: when one is made, into which file, and what the
// run file says of it. GIL, unless a function says otherwise.
#ifndef PYMEMRUN_TRACER_SESSION_OBJECT_MODULE_H_
#define PYMEMRUN_TRACER_SESSION_OBJECT_MODULE_H_

#include <Python.h>
#include <limits.h>

#include <cstdint>
#include <string_view>

#include "tracer/base/trace_config.h"
#include "tracer/objects/object_dump.h"

namespace pymemrun {

// ObjectsReason of objects.proto.
enum class DumpReason : uint32_t {
  kAsked = 0,
  kAtExit = 1,
  kAtPeak = 2,
  kEvery = 3,
  kRssAbove = 4,
  kSignal = 5,
  kOutside = 6,
};

class ObjectModule {
 public:
  void Set(const TraceConfig& config);
  // pymemrun.dump_objects(path=None, *, wait=False).
  static PyObject* DumpObjects(PyObject* module, PyObject* args,
                               PyObject* kwargs);
  // From here on the signals and the end that were asked for make a dump.
  void WatchMoments();
  // The program's own code has ended.
  void AtExit();
  // Waits for the dump that is under way, and says in the run file how it went.
  // Without the GIL where the interpreter is gone.
  void Settle();
  // In a forked child of the program's. Async-signal-safe.
  void Forget() {
    dump_.Forget();
    peak_file_[0] = '\0';
    next_number_ = 0;
  }

 private:
  PyObject* Asked(PyObject* path, bool wait);
  // Returns false where there is no dump; then `problem` says why, or is empty
  // with a Python exception set.
  bool Start(DumpReason reason, const char* path, uint64_t since_ns);
  int OpenFile(const char* path);
  void WaitWithoutGil();
  // Takes what is known of a dump that has ended.
  void Take(ObjectDump::State state);
  void TellRun(const ObjectDump::Result& result);
  void KeepPeak();
  void Say(const char* what, const char* why) const;
  void DumpNow(DumpReason reason, const char* option);
  DumpReason CollectorsReason();
  void Handle(int signal, PyMethodDef* method);
  void WatchExit();
  static PyObject* OnExit(PyObject* module, PyObject* args);
  static PyObject* OnSignal(PyObject* module, PyObject* args);
  static PyObject* OnCollectorsSignal(PyObject* module, PyObject* args);
  static PyMethodDef signal_method_, collectors_method_, exit_method_;

  const TraceConfig* config_ = nullptr;
  ObjectDump dump_;
  // Of the dump that is under way, or was the last one.
  char file_[PATH_MAX] = "";
  DumpReason reason_ = DumpReason::kAsked;
  char problem_[256] = "";
  char peak_file_[PATH_MAX] = "";  // of the highest RSS so far
  uint32_t next_number_ = 0;       // of the next file
  bool above_ = false;             // a dump was made for RSS above its bound
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_OBJECT_MODULE_H_
