#include "tracer/startup.h"

#include <string.h>

#include "tracer/call_hooks.h"
#include "tracer/hot_state.h"
#include "tracer/profile_slot.h"

namespace pymemrun {
namespace {

const TraceConfig* g_config = nullptr;
Startup::BeginFunction g_begin = nullptr;
bool g_begun = false;

// The target of `-m`, empty for every other form. The user's code is then the
// packages around it, which runpy imports first, and the module itself.
char g_module[1024];
bool g_under_runpy = false;
bool g_root_is_target = false;  // the frame traced now is the target's own
// runpy's outermost frame: when it returns, nothing of runpy's is left.
const PymemrunFrame* g_runpy_frame = nullptr;

bool NameIs(PyObject* text, const char* expected) {
  char buffer[1024];
  const size_t n = PymemrunCopyUtf8(text, buffer, sizeof(buffer));
  return n == strlen(expected) && memcmp(buffer, expected, n) == 0;
}

bool IsModuleCode(const PymemrunFrame* frame) {
  PymemrunCodeFacts facts;
  PymemrunCodeFactsOf(reinterpret_cast<PyObject*>(PymemrunFrameCode(frame)),
                      &facts);
  return NameIs(facts.name, "<module>");
}

bool RunsInMain(const PymemrunFrame* frame) {
  PyObject* main = PyImport_AddModule("__main__");  // borrowed; exists by now
  return main != nullptr &&
         PymemrunFrameGlobals(frame) == PyModule_GetDict(main);
}

// Whether the frame runs the package `a` or `a.b` of the target `a.b.c`.
bool RunsPackageOfTarget(const PymemrunFrame* frame) {
  PyObject* globals = PymemrunFrameGlobals(frame);
  PyObject* value = globals != nullptr && PyDict_CheckExact(globals)
                        ? PyDict_GetItemString(globals, "__name__")
                        : nullptr;
  char name[sizeof(g_module)];
  const size_t n = PymemrunCopyUtf8(value, name, sizeof(name));
  if (n == 0 || n >= sizeof(name) || strncmp(g_module, name, n) != 0) {
    return false;
  }
  return g_module[n] == '.' || g_module[n] == '\0';
}

const PymemrunFrame* Outermost(const PymemrunFrame* frame) {
  for (const PymemrunFrame* back; (back = PymemrunFrameBack(frame)) != nullptr;
       frame = back) {
  }
  return frame;
}

// Waits for the user's first frame; everything before it is the interpreter's.
bool IsFirst(const PymemrunFrame* frame, EventWhat what) {
  if (what != EventWhat::kCall || !IsModuleCode(frame)) return false;
  const bool in_main = RunsInMain(frame);
  if (!in_main && !(g_module[0] != '\0' && RunsPackageOfTarget(frame))) {
    return false;
  }
  if (!g_begun) {
    g_begun = true;
    if (!g_begin()) {
      ProfileSlot::Unwatch();
      return false;
    }
  }
  if (g_under_runpy) {
    Hot().root_frame = frame;
    Hot().root_code = PymemrunFrameCode(frame);
    g_root_is_target = in_main;
    g_runpy_frame = Outermost(frame);
  }
  if (!ProfileSlot::armed()) ProfileSlot::ArmAll(CallHooks::hook());
  ProfileSlot::Unwatch();
  return true;
}

// After the user's module: runpy's frames return, unseen.
bool IsAfterRunpy(const PymemrunFrame* frame, EventWhat what) {
  if (what == EventWhat::kReturn && frame == g_runpy_frame) {
    ProfileSlot::Unwatch();
  }
  return false;
}

void BeginWaiting() {
  if (g_config->calls && !g_config->paused) {
    ProfileSlot::Watch(IsFirst);
  } else if (!g_begun) {
    g_begun = true;
    g_begin();
  }
}

bool IsImportOfSite(const char* event, PyObject* args) {
  return strcmp(event, "import") == 0 && args != nullptr &&
         PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0 &&
         NameIs(PyTuple_GET_ITEM(args, 0), "site");
}

int AuditHook(const char* event, PyObject* args, void*) {
  if (g_config->trace_startup && !g_begun && IsImportOfSite(event, args)) {
    g_begun = true;
    if (g_begin()) ProfileSlot::ArmAll(CallHooks::hook());
  }
  if (strncmp(event, "cpython.run_", 12) != 0) return 0;
  // From here on an audit hook would only tax the program.
  PymemrunUnlinkAuditHook(AuditHook);
  if (g_begun) return 0;
  if (strcmp(event, "cpython.run_module") == 0) {
    g_under_runpy = true;
    if (PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0) {
      const size_t n = PymemrunCopyUtf8(PyTuple_GET_ITEM(args, 0), g_module,
                                        sizeof(g_module) - 1);
      g_module[n < sizeof(g_module) ? n : 0] = '\0';
    }
    if (strcmp(g_module, "__main__") == 0) g_module[0] = '\0';
  }
  BeginWaiting();
  return 0;
}

}  // namespace

void Startup::Watch(const TraceConfig* config, BeginFunction begin) {
  g_config = config;
  g_begin = begin;
  PySys_AddAuditHook(AuditHook, nullptr);
}

int Startup::RootReturned() {
  Hot().root_frame = nullptr;
  Hot().root_code = nullptr;
  // A package around the target has been imported: the target itself follows.
  ProfileSlot::Watch(g_root_is_target ? IsAfterRunpy : IsFirst);
  return 0;
}

int Startup::NotTracing() {
  ProfileSlot::Leave();
  return 0;
}

}  // namespace pymemrun
