#include "tracer/code/thread_registry.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/heap_inside.h"
#include "tracer/cpython/lifetime.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {

namespace {

constinit thread_local bool t_passes = true;
// Hash of the name and time in the last definition of this thread.
constinit thread_local uint64_t t_name_hash = 0;
constinit thread_local uint64_t t_defined = 0;

constexpr size_t kMaxName = 1024;

// FNV-1a.
uint64_t HashOf(const char* name, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; ++i) {
    hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace

// Copies the `_name` attribute of a Thread object, if it is in the object
// itself. If its class defines that name, it may be a descriptor, and no Python
// code may run here. Returns 0 without a name. Leaves no exception set.
inline size_t ThreadRegistry::NameOf(PyObject* thread, char* buffer) const {
  if (keys_.name == nullptr ||
      _PyType_Lookup(Py_TYPE(thread), keys_.name) != nullptr) {
    return 0;
  }
  PyObject* text = PyObject_GenericGetAttr(thread, keys_.name);
  if (text == nullptr) PyErr_Clear();
  const size_t length = PymemrunCopyUtf8(text, buffer, kMaxName);
  Py_XDECREF(text);
  return length < kMaxName ? length : kMaxName;
}

// The name of the thread that `frame` belongs to, from
// threading.Thread._bootstrap, whose first local variable is the Thread object.
// Returns 0 if that method is not on the stack.
inline size_t ThreadRegistry::NameFromBootstrap(const PymemrunFrame* frame,
                                                char* buffer) const {
  for (; frame != nullptr; frame = PymemrunFrameBack(frame)) {
    PymemrunCodeFacts facts;
    PymemrunCodeFactsOf(reinterpret_cast<PyObject*>(PymemrunFrameCode(frame)),
                        &facts);
    char name[16];
    const size_t n = PymemrunCopyUtf8(facts.name, name, sizeof(name));
    if (n != 10 || memcmp(name, "_bootstrap", 10) != 0) continue;
    PyObject* thread = PymemrunFrameFirstLocal(frame);
    if (thread == nullptr) return 0;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const size_t length = NameOf(thread, buffer);
    PyErr_Restore(type, value, traceback);
    return length;
  }
  return 0;
}

// The Thread object of the calling thread in threading._active, borrowed, or
// null. Linear in the number of threads.
inline PyObject* ThreadRegistry::FindThread() const {
  if (keys_.threading == nullptr) return nullptr;
  PyObject* module =
      PyDict_GetItemWithError(PyImport_GetModuleDict(), keys_.threading);
  PyObject* table =
      module != nullptr && PyModule_Check(module)
          ? PyDict_GetItemWithError(PyModule_GetDict(module), keys_.active)
          : nullptr;
  if (table == nullptr || !PyDict_CheckExact(table)) return nullptr;
  const unsigned long own = PyThread_get_thread_ident();
  PyObject *key, *thread;
  Py_ssize_t at = 0;
  while (PyDict_Next(table, &at, &key, &thread) != 0) {
    if (PyLong_CheckExact(key) && PyLong_AsUnsignedLong(key) == own) {
      return thread;
    }
  }
  return nullptr;
}

// Copies the present name of the calling thread to `buffer`. Returns its
// length; 0: no name. Names that `threading` invented for threads which it did
// not start do not count.
inline size_t ThreadRegistry::NameNow(char* buffer) const {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* thread = FindThread();
  size_t length = thread != nullptr ? NameOf(thread, buffer) : 0;
  if (length >= 6 && memcmp(buffer, "Dummy-", 6) == 0 &&
      strcmp(Py_TYPE(thread)->tp_name, "_DummyThread") == 0) {
    length = 0;
  }
  PyErr_Restore(type, value, traceback);
  return length;
}

// Defines the calling thread under a new id and this name.
void ThreadRegistry::Send(HotState& hot, const char* name, size_t length) {
  const uint64_t native_id = static_cast<uint64_t>(syscall(SYS_gettid));
  t_passes = filters_.PassesThread(name);
  t_name_hash = HashOf(name, length);
  t_defined = TimeStamp(hot.time_is_tsc);
  const ThreadPayload payload = {native_id, t_defined, t_thread_id, 0};
  // If the ring has no room, the collector gives the rows under this id a name
  // of its own.
  t_thread_id = ++last_id_;
  PutStruct(hot, ControlKind::kThreadDef, t_thread_id, payload,
            {{static_cast<uint32_t>(length), name}});
}

constinit thread_local uint64_t ThreadRegistry::t_looked = 0;
constinit thread_local uint64_t ThreadRegistry::t_look_after = 0;

void ThreadRegistry::MakeKeys() {
  if (!kTracesCalls) return;
  const Keys keys = {PyUnicode_InternFromString("_name"),
                     PyUnicode_InternFromString("threading"),
                     PyUnicode_InternFromString("_active")};
  if (keys.name != nullptr && keys.threading != nullptr &&
      keys.active != nullptr) {
    keys_ = keys;
  } else {
    PyErr_Clear();
  }
}

void ThreadRegistry::Define(HotState& hot, const PymemrunFrame* frame) {
  const pid_t native_id = static_cast<pid_t>(syscall(SYS_gettid));
  char name[kMaxName + 1];
  size_t length = 0;
  if (native_id == static_cast<pid_t>(hot.page->traced_pid)) {
    memcpy(name, "MainThread", 10);
    length = 10;
  } else {
    length = NameFromBootstrap(frame, name);
    if (length == 0) {  // begun by _thread or by C code: it has no name
      memcpy(name, "thread", 6);
      length = 6;
    }
  }
  name[length] = '\0';
  Send(hot, name, length);
}

// The wait until the next look grows with the time since the last definition,
// up to 1 ms.
void ThreadRegistry::LookAtNameSlow(HotState& hot, uint64_t stamp) {
  const uint64_t late = (stamp - t_defined) / 8;
  const uint64_t most = hot.staleness * 20;  // 1 ms
  t_looked = stamp;
  t_look_after = late < most ? late : most;
  // The interpreter removes its modules when it ends. A subinterpreter has a
  // `threading` of its own, and has no modules while it is made or ended.
  PyThreadState* tstate = PymemrunGilHolder();
  if (tstate == nullptr || PymemrunIsFinalizing() != 0 ||
      tstate->interp != PyInterpreterState_Main()) {
    return;
  }
  const HeapInside inside;
  if (t_thread_id == 0) {
    // Its first event defines it. With sys.monitoring that never comes where no
    // calls are traced.
#ifdef PYMEMRUN_MONITORING
    Define(hot, PymemrunTopFrame(tstate));
#endif
    return;
  }
  char name[kMaxName + 1];
  const size_t length = NameNow(name);
  if (length == 0 || HashOf(name, length) == t_name_hash) return;
  name[length] = '\0';
  Send(hot, name, length);
}

bool ThreadRegistry::CurrentPasses() { return t_passes; }

}  // namespace pymemrun
