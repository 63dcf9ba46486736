// The floor of any tool that sees every call: CPython embedded exactly as in
// pymemrun, with a profile callback that does nothing. With the environment
// variable BENCH_COUNT set the callback counts its events and the total is
// written to stderr, so that a cost per event can be given. Only the thread that
// runs the script has the callback, as with any tool that calls
// PyEval_SetProfile once.
#include <Python.h>
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
static int AuditHook(const char* event, PyObject* args, void* unused) {
  if (strncmp(event, "cpython.run_", 12) == 0) {
    const int count = getenv("BENCH_COUNT") != NULL;
    if (count) atexit(PrintEvents);
    PyEval_SetProfile(count ? CountingCallback : EmptyCallback, NULL);
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
