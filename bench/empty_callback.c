// The floor of any tool that sees every call: CPython embedded exactly as in
// pymemrun, with a profile callback that does nothing. Only the thread that
// runs the script has it, as with any tool that calls PyEval_SetProfile once.
// The environment variable BENCH_CALLBACK chooses another one:
//   count       counts its events and writes the total to stderr, so that a
//               cost per event can be given
//   monitoring  from CPython 3.12 on: the events reach an empty function
//               directly, without what makes them a profile function's
//   allocators  none, but hooks on all three of Python's allocators that only
//               forward: the floor of any tool that sees every allocation
//   none        none at all: what the embedding itself costs
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
#if PY_VERSION_HEX >= 0x030C0000
#include <internal/pycore_instruments.h>
#include <internal/pycore_interp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long g_events;

static int EmptyCallback(PyObject* object, PyFrameObject* frame, int what,
                         PyObject* arg) {
  return 0;
}

static int CountingCallback(PyObject* object, PyFrameObject* frame, int what,
                            PyObject* arg) {
  ++g_events;
  return 0;
}

#if PY_VERSION_HEX >= 0x030C0000
static PyObject* EmptyMonitoringCallback(PyObject* self, PyObject* const* args,
                                         size_t nargsf, PyObject* names) {
  return Py_None;
}

// What the interpreter's own callbacks for profile functions call.
static void ReplaceCallbacks(void) {
  PyObject** callbacks = PyInterpreterState_Main()
                             ->monitoring_callables[PY_MONITORING_SYS_PROFILE_ID];
  for (int event = 0; event < _PY_MONITORING_EVENTS; ++event) {
    PyObject* callback = callbacks[event];
    if (callback == NULL) continue;
    *(vectorcallfunc*)((char*)callback +
                       Py_TYPE(callback)->tp_vectorcall_offset) =
        EmptyMonitoringCallback;
  }
}

static void RemoveAuditHooks(void) { _PyRuntime.audit_hooks.head = NULL; }
#else
static void ReplaceCallbacks(void) {}
static void RemoveAuditHooks(void) { _PyRuntime.audit_hook_head = NULL; }
#endif

static PyMemAllocatorEx g_below[3];

static void* Malloc(void* below, size_t size) {
  const PyMemAllocatorEx* next = below;
  return next->malloc(next->ctx, size);
}
static void* Calloc(void* below, size_t count, size_t size) {
  const PyMemAllocatorEx* next = below;
  return next->calloc(next->ctx, count, size);
}
static void* Realloc(void* below, void* block, size_t size) {
  const PyMemAllocatorEx* next = below;
  return next->realloc(next->ctx, block, size);
}
static void Free(void* below, void* block) {
  const PyMemAllocatorEx* next = below;
  next->free(next->ctx, block);
}

static void HookAllocators(void) {
  const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                          PYMEM_DOMAIN_OBJ};
  for (int i = 0; i < 3; ++i) {
    PyMem_GetAllocator(domains[i], &g_below[i]);
    PyMemAllocatorEx hook = {&g_below[i], Malloc, Calloc, Realloc, Free};
    PyMem_SetAllocator(domains[i], &hook);
  }
}

static void PrintEvents(void) { fprintf(stderr, "events %llu\n", g_events); }

// Installs the callback at the moment pymemrun does: before the user's code.
// Then the hook goes, for as long as there is one, id() and others take longer.
static int AuditHook(const char* event, PyObject* args, void* unused) {
  if (strncmp(event, "cpython.run_", 12) == 0) {
    RemoveAuditHooks();
    const char* which = getenv("BENCH_CALLBACK");
    if (which == NULL) {
      PyEval_SetProfile(EmptyCallback, NULL);
    } else if (strcmp(which, "count") == 0) {
      atexit(PrintEvents);
      PyEval_SetProfile(CountingCallback, NULL);
    } else if (strcmp(which, "allocators") == 0) {
      HookAllocators();
    } else if (strcmp(which, "monitoring") == 0) {
      PyEval_SetProfile(EmptyCallback, NULL);
      ReplaceCallbacks();
    }
  }
  return 0;
}

int main(int argc, char** argv) {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  argv[0] = (char*)BENCH_PYTHON_EXECUTABLE;
  PySys_AddAuditHook(AuditHook, NULL);
  PyConfig_SetBytesArgv(&config, argc, argv);
  PyConfig_SetBytesString(&config, &config.program_name,
                          BENCH_PYTHON_EXECUTABLE);
  const PyStatus status = Py_InitializeFromConfig(&config);
  if (PyStatus_Exception(status)) Py_ExitStatusException(status);
  return Py_RunMain();
}
