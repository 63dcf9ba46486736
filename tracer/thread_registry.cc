#include "tracer/thread_registry.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/clock.h"
#include "tracer/event_ring.h"

namespace pymemrun {

namespace {

constinit thread_local bool t_passes = true;

const Filters* g_filters = nullptr;
uint32_t g_last_id = 0;

constexpr size_t kMaxName = 1024;

// The name of the thread that `frame` begins, when it is threading.Thread's own
// first method; 0 otherwise. Reads `self._name` by the generic lookup, which
// runs no Python code for a Thread.
size_t NameFromBootstrap(const PymemrunFrame* frame, char* buffer) {
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
    PyObject* key = PyUnicode_InternFromString("_name");
    PyObject* text =
        key != nullptr ? PyObject_GenericGetAttr(thread, key) : nullptr;
    const size_t length = PymemrunCopyUtf8(text, buffer, kMaxName);
    Py_XDECREF(text);
    Py_XDECREF(key);
    PyErr_Restore(type, value, traceback);
    return length < kMaxName ? length : kMaxName;
  }
  return 0;
}

}  // namespace

void ThreadRegistry::Create(const Filters* filters) { g_filters = filters; }

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
  t_passes = g_filters->PassesThread(name);
  const ThreadPayload payload = {static_cast<uint64_t>(native_id),
                                 TimeStamp(hot.time_is_tsc)};
  const uint32_t name_length = static_cast<uint32_t>(length);
  const Piece pieces[] = {
      {&payload, sizeof(payload)}, {&name_length, 4}, {name, length}};
  // Without room the rows of the thread stand under an id that the collector
  // names by itself.
  t_thread_id = ++g_last_id;
  PutPayload(hot, ControlKind::kThreadDef, t_thread_id, 0, pieces, 3);
}

bool ThreadRegistry::CurrentPasses() { return t_passes; }

}  // namespace pymemrun
