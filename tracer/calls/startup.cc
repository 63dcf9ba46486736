#include "tracer/calls/startup.h"

#include <stdio.h>
#include <string.h>

#include "tracer/calls/call_hooks.h"
#include "tracer/cpython/lifetime.h"

namespace pymemrun {
namespace {

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

// Linear in the depth of the stack, which is a few frames of runpy.
const PymemrunFrame* Outermost(const PymemrunFrame* frame) {
  for (const PymemrunFrame* back; (back = PymemrunFrameBack(frame)) != nullptr;
       frame = back) {
  }
  return frame;
}

bool IsImportOfSite(const char* event, PyObject* args) {
  return strcmp(event, "import") == 0 && args != nullptr &&
         PyTuple_Size(args) > 0 && NameIs(PyTuple_GetItem(args, 0), "site");
}

// Says which module of --import could not be imported, and why.
void SayNotImported(const TraceConfig& config, const char* module) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject* const text = value == nullptr ? nullptr : PyObject_Repr(value);
  char why[512] = "";
  const size_t n =
      text == nullptr ? 0 : PymemrunCopyUtf8(text, why, sizeof(why));
  char line[1024];
  const int size = snprintf(line, sizeof(line),
                            "pymemrun: --import %s: %.*s; the program runs "
                            "without it\n",
                            module, static_cast<int>(n < 512 ? n : 512), why);
  if (config.say != nullptr && size > 0) {
    config.say(line, size < 1024 ? static_cast<size_t>(size) : 1023);
  }
  for (PyObject* object : {text, type, value, traceback}) Py_DecRef(object);
  PyErr_Clear();
}

// Only by functions: objects of a free-threaded interpreter have another
// layout.
void ImportAll(const TraceConfig& config) {
  for (size_t i = 0; i < config.import.size(); ++i) {
    PyObject* const module = PyImport_ImportModule(config.import[i]);
    if (module == nullptr) SayNotImported(config, config.import[i]);
    Py_DecRef(module);
  }
}

}  // namespace

// Whether the frame runs the package `a` or `a.b` of the target `a.b.c`.
bool Startup::RunsPackageOfTarget(const PymemrunFrame* frame) const {
  PyObject* globals = PymemrunFrameGlobals(frame);
  PyObject* value = globals != nullptr && PyDict_CheckExact(globals)
                        ? PyDict_GetItemString(globals, "__name__")
                        : nullptr;
  char name[sizeof(module_)];
  const size_t n = PymemrunCopyUtf8(value, name, sizeof(name));
  if (n == 0 || n >= sizeof(name) || strncmp(module_, name, n) != 0) {
    return false;
  }
  return module_[n] == '.' || module_[n] == '\0';
}

// Whether this is the first event of the user's code. All earlier frames are
// the interpreter's. The session begins here.
bool Startup::IsFirst(const PymemrunFrame* frame, EventWhat what) {
  if (what != EventWhat::kCall || !IsModuleCode(frame)) return false;
  const bool in_main = RunsInMain(frame);
  if (!in_main && !(module_[0] != '\0' && RunsPackageOfTarget(frame))) {
    return false;
  }
  if (!begun_) {
    begun_ = true;
    if (!begin_()) {
      slot_.Unwatch();
      return false;
    }
  }
  if (under_runpy_) {
    root_frame_ = frame;
    root_code_ = PymemrunFrameCode(frame);
    Resume(Hot());
    root_is_target_ = in_main;
    runpy_frame_ = Outermost(frame);
  }
  if (!slot_.armed()) slot_.ArmAll(CallHooks::hook(log_));
  slot_.Unwatch();
  return true;
}

// After the user's module the frames of runpy return; these are not shown.
bool Startup::IsAfterRunpy(const PymemrunFrame* frame, EventWhat what) {
  if (what == EventWhat::kReturn && frame == runpy_frame_) {
    slot_.Unwatch();
  }
  return false;
}

void Startup::BeginWaiting() {
  if (config_->traces.has(Trace::kCalls) && !config_->paused) {
    WatchSlot();
  } else if (!begun_) {
    begun_ = true;
    begin_();
  }
}

bool Startup::OnEvent(void* startup, const PymemrunFrame* frame, EventWhat what,
                      PyObject*) {
  auto* self = static_cast<Startup*>(startup);
  return self->after_runpy_ ? self->IsAfterRunpy(frame, what)
                            : self->IsFirst(frame, what);
}

// CPython raises "cpython.run_*" right before it runs the user's code (audit
// events table of the Python documentation).
void Startup::Audit(const char* event, PyObject* args) {
  if (config_->trace_startup && !begun_ && IsImportOfSite(event, args)) {
    begun_ = true;
    if (begin_()) slot_.ArmAll(CallHooks::hook(log_));
  }
  if (strncmp(event, "cpython.run_", 12) != 0) return;
  // From here on an audit hook would only slow the program down.
  PymemrunUnlinkAuditHook(OnAudit);
  ImportAll(*config_);
  if (begun_) return;
  if (strcmp(event, "cpython.run_module") == 0) {
    under_runpy_ = true;
    if (PyTuple_Size(args) > 0) {
      const size_t n = PymemrunCopyUtf8(PyTuple_GetItem(args, 0), module_,
                                        sizeof(module_) - 1);
      module_[n < sizeof(module_) ? n : 0] = '\0';
    }
    if (strcmp(module_, "__main__") == 0) module_[0] = '\0';
  }
  BeginWaiting();
}

int Startup::OnAudit(const char* event, PyObject* args, void* startup) {
  static_cast<Startup*>(startup)->Audit(event, args);
  return 0;
}

void Startup::Watch(const TraceConfig* config, BeginFunction begin) {
  config_ = config;
  begin_ = begin;
  PySys_AddAuditHook(OnAudit, this);
}

void Startup::Resume(HotState& hot) const {
  hot.root_frame = root_frame_;
  hot.root_code = root_code_;
}

int Startup::RootReturned(HotState& hot) {
  root_frame_ = root_code_ = nullptr;
  Resume(hot);
  // If that was a package around the target, the target itself follows.
  after_runpy_ = root_is_target_;
  WatchSlot();
  return 0;
}

int Startup::NotTracing() {
  ProfileSlot::Leave();
  return 0;
}

}  // namespace pymemrun
