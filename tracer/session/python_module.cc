#include "tracer/session/python_module.h"

#include <string.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/statm.h"
#include "tracer/calls/call_hooks.h"
#include "tracer/cpython/abilities.h"
#include "tracer/cpython/compat.h"
#include "tracer/heap/heap_log.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/ring/event_ring.h"
#include "tracer/session/counters.h"
#include "tracer/session/heap_module.h"
#include "tracer/session/object_module.h"
#include "tracer/session/parts.h"
#include "tracer/session/ring_lock.h"

namespace pymemrun {
namespace {

// What this run can record.
struct Recorded {
  bool any = true;
  bool calls = true;
  bool sizes = false;  // --heap stats
};
constinit Recorded g_recorded;
const char* g_package = nullptr;  // TraceConfig's

// No effect if tracing is on. The hooks come last: their first event is after
// the end of the pause.
void StartTracing() {
  const RingLock lock;
  g_parts.file.Begin();
  g_heap.samples.Record(true);
  if (g_recorded.sizes) g_parts.heap.GatherSizes();
  if (Hot().page == nullptr || !g_parts.pauses.is_on()) return;
  g_parts.stacks.EventsMissed();
  g_parts.pauses.End(Hot());
  if (g_recorded.calls) g_parts.slot.ArmAll(CallHooks::hook(g_parts.log));
}

void StopTracing() {
  const RingLock lock;
  g_heap.samples.Record(false);
  g_parts.heap.StopSizes();
  if (Hot().page == nullptr || g_parts.pauses.is_on()) return;
  if (g_parts.slot.armed()) g_parts.slot.DisarmAll();
  g_parts.pauses.Begin(Hot(), g_recorded.calls);
}

PyObject* Start(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* const kNames[] = {"heap", "output", nullptr};
  PyObject* heap = Py_None;
  PyObject* output = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OO:start",
                                   const_cast<char**>(kNames), &heap,
                                   &output)) {
    return nullptr;
  }
  HeapRatesConfig rates;
  const bool sets_rates = heap != Py_None && g_recorded.any;
  if (sets_rates && !HeapModule::ReadRates(heap, &rates)) return nullptr;
  if (output != Py_None && !g_parts.file.Rename(output)) return nullptr;
  if (sets_rates && !HeapModule::SetRates(rates)) return nullptr;
  StartTracing();
  Py_RETURN_NONE;
}

PyObject* Stop(PyObject*, PyObject*) {
  StopTracing();
  Py_RETURN_NONE;
}

PyObject* GatherStats(PyObject*, PyObject*) {
  const RingLock lock;
  if (!g_parts.heap.GatherSizes()) return PyErr_SetFromErrno(PyExc_OSError);
  Py_RETURN_NONE;
}

// Allowed while tracing is off: a mark is no event.
PyObject* MarkNow(PyObject*, PyObject* label) {
  if (!PyUnicode_Check(label)) {
    PyObject* type = PyObject_GetAttrString(
        reinterpret_cast<PyObject*>(Py_TYPE(label)), "__name__");
    PyErr_Format(PyExc_TypeError, "label must be a str, not %V", type, "that");
    Py_XDECREF(type);
    return nullptr;
  }
  HotState& hot = Hot();
  if (hot.page == nullptr) Py_RETURN_NONE;
  char text[4096];
  const size_t needed = PymemrunCopyUtf8(label, text, sizeof(text));
  const uint32_t length =
      static_cast<uint32_t>(needed < sizeof(text) ? needed : sizeof(text));
  const RingLock lock;
  if (t_thread_id == 0) g_parts.threads.Define(hot, nullptr);
  const MarkPayload payload = {NextNumber(hot), TimeStamp(hot.time_is_tsc),
                               Statm::ReadAnew(), t_thread_id, 0};
  PutStruct(hot, ControlKind::kMark, 0, payload, {{length, text}});
  HeapLog::StateClock(hot);
  Py_RETURN_NONE;
}

// Calls and heap events are switched together. Runs without calls have only the
// heap's state.
bool IsTracing() {
  return g_recorded.calls ? g_parts.slot.armed() : g_heap.samples.records();
}

PyObject* IsTracingNow(PyObject*, PyObject*) {
  return PyBool_FromLong(Hot().page != nullptr && IsTracing());
}

PyObject* Rss(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(
      static_cast<unsigned long long>(Statm::ReadAnew()) *
      static_cast<unsigned long long>(sysconf(_SC_PAGESIZE)));
}

PyObject* RssPeak(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(
      static_cast<unsigned long long>(Statm::ReadHwmPages()) *
      static_cast<unsigned long long>(sysconf(_SC_PAGESIZE)));
}

PyObject* RunFilePath(PyObject*, PyObject*) {
  const char* const path = g_parts.file.path();
  if (Hot().page == nullptr || path == nullptr) Py_RETURN_NONE;
  return PyUnicode_DecodeFSDefault(path);
}

// `%load_ext pymemrun` imports this module, and the magic is in a package of
// the same name.
PyObject* LoadExtension(PyObject*, PyObject* shell) {
  PyObject* const module = PyImport_ImportModule("pymemrun.jupyter");
  if (module == nullptr) return nullptr;
  PyObject* const result =
      PyObject_CallMethod(module, "load_ipython_extension", "O", shell);
  Py_DECREF(module);
  return result;
}

// `with pymemrun.trace():`. Leaves tracing as it was before.
struct TraceObject {
  PyObject base;
  bool started;
};

PyObject* TraceEnter(PyObject* self, PyObject*) {
  auto* trace = reinterpret_cast<TraceObject*>(self);
  if (!IsTracing()) {
    trace->started = true;
    StartTracing();
  }
  Py_INCREF(self);
  return self;
}

PyObject* TraceExit(PyObject* self, PyObject*) {
  auto* trace = reinterpret_cast<TraceObject*>(self);
  if (trace->started) StopTracing();
  trace->started = false;
  Py_RETURN_NONE;
}

// Whether a call runs the function's code. Calls of generators and coroutines
// only make an object.
bool RunsWhenCalled(PyObject* function) {
  PyObject* const code = PyObject_GetAttrString(function, "__code__");
  PyObject* const flags =
      code == nullptr ? nullptr : PyObject_GetAttrString(code, "co_flags");
  const long value = flags == nullptr ? 0 : PyLong_AsLong(flags);
  Py_XDECREF(code);
  Py_XDECREF(flags);
  PyErr_Clear();  // a callable that is no function
  return (value & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) == 0;
}

// `@pymemrun.trace()`: contextlib.ContextDecorator makes the decorator. It
// takes a new context manager for each call, by _recreate_cm().
PyObject* TraceCall(PyObject* self, PyObject* args, PyObject*) {
  PyObject* function = nullptr;
  if (!PyArg_UnpackTuple(args, "trace", 1, 1, &function)) return nullptr;
  if (!PyCallable_Check(function) || !RunsWhenCalled(function)) {
    PyErr_SetString(PyExc_TypeError,
                    "trace() decorates functions, not coroutines or "
                    "generators: use `with pymemrun.trace():` inside them");
    return nullptr;
  }
  PyObject* const contextlib = PyImport_ImportModule("contextlib");
  if (contextlib == nullptr) return nullptr;
  PyObject* const base = PyObject_GetAttrString(contextlib, "ContextDecorator");
  Py_DECREF(contextlib);
  if (base == nullptr) return nullptr;
  PyObject* const result =
      PyObject_CallMethod(base, "__call__", "OO", self, function);
  Py_DECREF(base);
  return result;
}

PyObject* TraceAgain(PyObject* self, PyObject*) {
  return PyObject_CallObject(reinterpret_cast<PyObject*>(Py_TYPE(self)),
                             nullptr);
}

PyMethodDef kTraceMethods[] = {
    {"__enter__", TraceEnter, METH_NOARGS, "Starts tracing."},
    {"__exit__", TraceExit, METH_VARARGS, "Stops tracing."},
    {"_recreate_cm", TraceAgain, METH_NOARGS, "For contextlib."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot kTraceSlots[] = {
    {Py_tp_doc,
     const_cast<char*>("Context manager that traces the code inside it. As a "
                       "decorator it traces\neach call of the function.")},
    {Py_tp_call, reinterpret_cast<void*>(TraceCall)},
    {Py_tp_methods, kTraceMethods},
    {0, nullptr}};
PyType_Spec kTraceSpec = {"pymemrun.trace", sizeof(TraceObject), 0,
                          Py_TPFLAGS_DEFAULT, kTraceSlots};

PyMethodDef kMethods[] = {
    {"start", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(Start)),
     METH_VARARGS | METH_KEYWORDS,
     "start(*, heap=None, output=None)\n--\n\nStarts or resumes tracing on "
     "all threads. No effect if tracing is on.\n\nheap: how allocations are "
     "sampled from now on. A dict {size: probability} samples\nallocations "
     "below each size with its probability, and records every larger one. "
     "An\nint is the mean number of bytes between two samples.\noutput: the "
     "run file's path, for a run started with --paused. The file must not\n"
     "exist."},
    {"stop", Stop, METH_NOARGS,
     "stop()\n--\n\nSuspends tracing on all threads. No effect if tracing "
     "is off."},
    {"gather_stats", GatherStats, METH_NOARGS,
     "gather_stats()\n--\n\nCounts allocations by size from now on. "
     "stop(), or the end of the program,\nprints the table to stderr."},
    {"is_tracing", IsTracingNow, METH_NOARGS,
     "is_tracing()\n--\n\nReturns True while tracing is on."},
    {"mark", MarkNow, METH_O,
     "mark(label)\n--\n\nRecords a label with the time and the RSS."},
    {"counter",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(Counters::Counter)),
     METH_FASTCALL,
     "counter(name, value, /)\n--\n\nRecords a value, an int or a float, "
     "of the counter `name` with the time.\nNo effect without --trace "
     "counters."},
    {"dump_objects",
     reinterpret_cast<PyCFunction>(
         reinterpret_cast<void*>(ObjectModule::DumpObjects)),
     METH_VARARGS | METH_KEYWORDS,
     "dump_objects(path=None, *, wait=False)\n--\n\nWrites every object and "
     "its references to a file: `path`, or a file beside the run\nfile. A "
     "forked copy of the process does the work. Returns the path of the file, "
     "or\nNone if no dump could be started.\n\nwait: return only when the "
     "file is complete."},
    {"rss", Rss, METH_NOARGS,
     "rss()\n--\n\nThe current resident set size of the process, in bytes."},
    {"rss_peak", RssPeak, METH_NOARGS,
     "rss_peak()\n--\n\nThe highest resident set size of the process so far, "
     "in bytes."},
    {"run_file", RunFilePath, METH_NOARGS,
     "run_file()\n--\n\nThe path of the run file, or None if no file is "
     "written."},
    {"load_ipython_extension", LoadExtension, METH_O,
     "load_ipython_extension(ipython)\n--\n\nCalled by `%load_ext "
     "pymemrun`. Adds the magic `%%pymemrun`."},
    {nullptr, nullptr, 0, nullptr}};

// Sets an attribute and gives the reference to `value` away. Returns -1 with an
// exception set.
int SetAttribute(PyObject* module, const char* name, PyObject* value) {
  if (value == nullptr) return -1;
  const int result = PyObject_SetAttrString(module, name, value);
  Py_DECREF(value);
  return result;
}

// Makes the modules of the package importable as submodules of this one.
// IPython 7 needs the `__file__` of an extension.
int AddModulesOf(const char* package, PyObject* module) {
  PyObject* const folder = PyUnicode_DecodeFSDefault(package);
  if (folder == nullptr) return -1;
  PyObject* const file = PyUnicode_FromFormat("%U/__init__.py", folder);
  PyObject* const path = PyList_New(1);
  if (path == nullptr) {
    Py_DECREF(folder);
  } else {
    PyList_SetItem(path, 0, folder);  // which has it then
  }
  const bool is_set = SetAttribute(module, "__path__", path) == 0;
  return SetAttribute(module, "__file__", file) == 0 && is_set ? 0 : -1;
}

int Execute(PyObject* module) {
  if (g_package != nullptr && AddModulesOf(g_package, module) != 0) return -1;
  PyObject* type = PyType_FromSpec(&kTraceSpec);
  if (type == nullptr) return -1;
  if (PyModule_AddObject(module, "trace", type) == 0) return 0;
  Py_DECREF(type);
  return -1;
}

PyModuleDef_Slot kSlots[] = {{Py_mod_exec, reinterpret_cast<void*>(Execute)},
#ifdef Py_GIL_DISABLED
                             {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                             {0, nullptr}};
PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "pymemrun",
                       "Controls the memory trace of this run. Exists only "
                       "under the pymemrun launcher.",
                       0,
                       kMethods,
                       kSlots,
                       nullptr,
                       nullptr,
                       nullptr};

PyObject* Init() { return PyModuleDef_Init(&kModule); }

}  // namespace

void PythonModule::Register(const TraceConfig* config) {
  const bool any = config != nullptr;
  g_recorded = {any, any && config->traces.has(Trace::kCalls),
                any && config->heap.mode == HeapMode::kStats};
  if (any) g_package = config->package;
  // Objects of a free-threaded interpreter have another layout.
  if (kAnyPython && strstr(Py_GetVersion(), "free-threading") != nullptr) {
    return;
  }
  PyImport_AppendInittab("pymemrun", Init);
  Counters::Prepare(config);
}

}  // namespace pymemrun
