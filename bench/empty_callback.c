// The floor of any tool that sees every call: CPython embedded exactly as in
// pymemrun, with a profile callback that does nothing. Only the thread that
// runs the script has it, as with any tool that calls PyEval_SetProfile once.
// The environment variable BENCH_CALLBACK chooses another one:
//   count  counts its events and writes the total to stderr, so that a cost
//          per event can be given
//   none   none at all: what the embedding itself costs
#define Py_BUILD_CORE 1
#include <Python.h>
#include <internal/pycore_runtime.h>
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

static void PrintEvents(void) { fprintf(stderr, "events %llu\n", g_events); }

// Installs the callback at the moment pymemrun does: before the user's code.
// Then the hook goes, for as long as there is one, id() and others take longer.
static int AuditHook(const char* event, PyObject* args, void* unused) {
  if (strncmp(event, "cpython.run_", 12) == 0) {
    _PyRuntime.audit_hook_head = NULL;
    const char* which = getenv("BENCH_CALLBACK");
    if (which == NULL) {
      PyEval_SetProfile(EmptyCallback, NULL);
    } else if (strcmp(which, "count") == 0) {
      atexit(PrintEvents);
      PyEval_SetProfile(CountingCallback, NULL);
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
