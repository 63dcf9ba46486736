#include "tracer/session/forks.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "tracer/base/hot_state.h"
#include "tracer/base/statm.h"
#include "tracer/calls/call_hooks.h"
#include "tracer/cpython/compat.h"
#include "tracer/gil/gil_hooks.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/interpose/interposed.h"
#include "tracer/pages/page_events.h"
#include "tracer/ring/side_ring.h"
#include "tracer/session/parts.h"
#include "tracer/tasks/task_hooks.h"

namespace pymemrun {
namespace {

// Whether orphans become children of this process, or of an ancestor within the
// program. Then a collector would be a child too, and the program would see its
// end.
constinit bool g_adopts_orphans = false;

// The three functions of pthread_atfork(3).
void BeforeFork() {
  int subreaper = 0;
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  g_adopts_orphans |= subreaper != 0;
}

void InParent() {
  HotState& hot = Hot();
  if (hot.page == nullptr) return;
  hot.page->forks.fetch_add(1, std::memory_order_relaxed);
  // In an interposed fork the child is recorded once its pid is known.
  if (!Interposed::InFork()) PageEvents::Forked(0);
}

// Async-signal-safe: other threads may have held any lock at the fork.
void InChild() {
  Statm::CloseInChild();
  SideRing::ForgetThread();
  GilHooks::ForgetThread();
  TaskHooks::ForgetThread();
  g_parts.objects.Forget();
  t_thread_id = 0;
  g_adopts_orphans |= getpid() == 1;  // of a namespace of its own
}

// In a child: where the frame that forked stands. The session begins when that
// frame has moved on.
struct Forking {
  Forks::BeginFunction begin;
  const PymemrunFrame* frame;
  uint32_t position;
  uint32_t rss_pages, grown_pages;  // at the fork, and since
  bool waits;
};
constinit Forking g_forking = {};

// Whether the call that forked has not returned yet. Then the running code is a
// callback of os.register_at_fork(), or subprocess's `preexec_fn`.
bool StillForks(const PymemrunFrame* frame) {
  while (frame != nullptr && frame != g_forking.frame) {
    frame = PymemrunFrameBack(frame);
  }
  return frame != nullptr && PymemrunFramePosition(frame) == g_forking.position;
}

bool TextIs(PyObject* text, const char* expected) {
  char buffer[16];
  const size_t size = PymemrunCopyUtf8(text, buffer, sizeof(buffer));
  return size == strlen(expected) && memcmp(buffer, expected, size) == 0;
}

// Whether the frame runs the module os, from a file or frozen.
bool RunsOs(const PymemrunFrame* frame) {
  PyObject* globals = PymemrunFrameGlobals(frame);
  PyObject* name = globals != nullptr && PyDict_CheckExact(globals)
                       ? PyDict_GetItemString(globals, "__name__")
                       : nullptr;
  return name != nullptr && TextIs(name, "os");
}

// Whether os.exec*() is searching for the program to run.
bool Execs(const PymemrunFrame* frame) {
  for (; frame != nullptr; frame = PymemrunFrameBack(frame)) {
    PymemrunCodeFacts facts;
    PymemrunCodeFactsOf(reinterpret_cast<PyObject*>(PymemrunFrameCode(frame)),
                        &facts);
    char name[8] = "";
    PymemrunCopyUtf8(facts.name, name, sizeof(name) - 1);
    const bool is_exec =
        strncmp(name, "exec", 4) == 0 || strncmp(name, "_exec", 5) == 0;
    if (is_exec && RunsOs(frame)) return true;
  }
  return false;
}

// Whether the event is of Python code that is worth a session. Children that
// exec at once, or only run callbacks, get none.
bool Counts(const PymemrunFrame* frame, EventWhat what, PyObject* module) {
  const bool is_c = what == EventWhat::kCCall;
  if ((!is_c && what != EventWhat::kCall) || RunsOs(frame)) return false;
  if (is_c && module != nullptr && TextIs(module, "posix")) return false;
  return !StillForks(frame) && !Execs(frame);
}

// Begins the session during this event. Returns whether to record it.
bool BeginNow() {
  const uint32_t rss_pages = Statm::ReadAnew();
  g_forking.grown_pages = rss_pages - std::min(rss_pages, g_forking.rss_pages);
  g_forking.waits = false;
  g_heap.samples.WaitForGrowth(nullptr);
  const bool records = g_forking.begin();
  if (records) g_parts.slot.ArmAll(CallHooks::hook(g_parts.log));
  return records;
}

bool OnEvent(void*, const PymemrunFrame* frame, EventWhat what,
             PyObject* module) {
  if (!Counts(frame, what, module)) return false;
  const bool records = BeginNow();
  g_parts.slot.Unwatch();
  return records;
}

// Some code has no events. From CPython 3.12 on a comprehension is no call, and
// the call of a type never was. So allocated memory begins a session, too.
void Grows();
int Grew(void*) {
  const PymemrunFrame* frame = PymemrunTopFrame(PyThreadState_Get());
  if (Hot().page != nullptr || !g_forking.waits) return 0;
  if (StillForks(frame) || Execs(frame)) {
    g_heap.samples.WaitForGrowth(Grows);
    return 0;
  }
  BeginNow();
  g_parts.slot.Unwatch();
  return 0;
}

// Called within an allocation, where no Python code may run. So it asks for a
// pending call.
void Grows() { Py_AddPendingCall(Grew, nullptr); }

// The interpreter calls this first in the child. Where the child's next event
// cannot be watched, the session begins here.
PyObject* AfterFork(PyObject*, PyObject*) {
  if (Hot().page != nullptr) Py_RETURN_NONE;  // not where the kernel wipes
  if (g_adopts_orphans) Py_RETURN_NONE;
  PyThreadState* tstate = PyThreadState_Get();
  const PymemrunFrame* frame = PymemrunTopFrame(tstate);
  g_forking.rss_pages = Statm::ReadAnew();
  g_forking.frame = frame;
  g_forking.position = frame != nullptr ? PymemrunFramePosition(frame) : 0;
  g_forking.waits = true;
  g_heap.samples.WaitForGrowth(Grows);
  if (!g_parts.slot.Watch({OnEvent, nullptr})) BeginNow();
  Py_RETURN_NONE;
}

PyMethodDef g_after_fork = {"pymemrun", AfterFork, METH_NOARGS, nullptr};

// os.register_at_fork(after_in_child=...).
bool Register() {
  PyObject* os = PyImport_ImportModule("posix");
  PyObject* callback = PyCFunction_New(&g_after_fork, nullptr);
  PyObject* add =
      os != nullptr ? PyObject_GetAttrString(os, "register_at_fork") : nullptr;
  PyObject* none = PyTuple_New(0);
  PyObject* named = callback != nullptr
                        ? Py_BuildValue("{sO}", "after_in_child", callback)
                        : nullptr;
  PyObject* result = add != nullptr && none != nullptr && named != nullptr
                         ? PyObject_Call(add, none, named)
                         : nullptr;
  const bool done = result != nullptr;
  for (PyObject* object : {os, callback, add, none, named, result}) {
    Py_XDECREF(object);
  }
  return done;
}

}  // namespace

uint64_t Forks::GrownPages() { return g_forking.grown_pages; }

bool Forks::AdoptsOrphans() { return g_adopts_orphans; }

void Forks::Watch() { pthread_atfork(BeforeFork, InParent, InChild); }

void Forks::Follow(BeginFunction begin) {
  g_forking.begin = begin;
  if (!Register()) PyErr_Clear();
}

}  // namespace pymemrun
