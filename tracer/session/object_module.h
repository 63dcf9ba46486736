// Dumps of the object graph: when one is made, into which file, and what the
// run file says of it. GIL, unless a function says otherwise.
#ifndef PYMEMRUN_TRACER_SESSION_OBJECT_MODULE_H_
#define PYMEMRUN_TRACER_SESSION_OBJECT_MODULE_H_

#include <Python.h>
#include <limits.h>

#include <cstdint>
#include <string_view>

#include "tracer/base/trace_config.h"
#include "tracer/objects/dump_name.h"
#include "tracer/objects/object_dump.h"
#include "tracer/wire/dump_order.h"

namespace pymemrun {

class ObjectModule {
 public:
  void Set(const TraceConfig& config);
  // pymemrun.dump_objects(path=None, *, wait=False).
  static PyObject* DumpObjects(PyObject* module, PyObject* args,
                               PyObject* kwargs);
  // From here on the signals and the end that were asked for make a dump.
  void WatchMoments();
  // Says on the run's page whether its collector may ask for dumps.
  void TellCollector() const;
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
  // Where the dump goes when it is complete, in place of the last peak's; null:
  // that is of another run, or there was none.
  const char* TakenPlace() const {
    return AreDumpsOfOneRun(file_, peak_file_) ? peak_file_ : nullptr;
  }
  void Say(const char* what, const char* why) const;
  bool IsFree();
  void DumpNow(DumpReason reason, const char* option);
  void Obey(ControlPage* page, uint32_t order);
  void TellUnderWay();
  void TakeOrders();
  bool Handle(int signal, PyMethodDef* method);
  void WatchExit();
  static PyObject* OnExit(PyObject* module, PyObject* args);
  static PyObject* OnSignal(PyObject* module, PyObject* args);
  static PyObject* OnOrder(PyObject* module, PyObject* args);
  static PyMethodDef signal_method_, order_method_, exit_method_;

  const TraceConfig* config_ = nullptr;
  ObjectDump dump_;
  // File of the running or the last dump.
  char file_[PATH_MAX] = "";
  DumpReason reason_ = DumpReason::kAsked;
  char problem_[256] = "";
  bool is_lost_ = false;  // its file is not there, or does not have it all
  char peak_file_[PATH_MAX] = "";  // of the highest RSS so far
  uint32_t next_number_ = 0;       // of the next file
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_OBJECT_MODULE_H_
