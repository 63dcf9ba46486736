// Unit tests that run inside an interpreter with the whole tracer, which is
// paused. Nothing reads the ring: they empty it.
#ifndef PYMEMRUN_TRACER_EMBEDDED_PYTHON_FOR_TESTS_H_
#define PYMEMRUN_TRACER_EMBEDDED_PYTHON_FOR_TESTS_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"
#include "tracer/session.h"

namespace pymemrun {

inline void EmptyRing() {
  ControlPage* page = Hot().page;
  page->tail.store(page->head.load(std::memory_order_relaxed),
                   std::memory_order_release);
}

struct EmbeddedTests {
  static inline void (*prepare)();
  static inline int result = 1;

  static PyObject* Run(PyObject*, PyObject*) {
    prepare();
    result = RUN_ALL_TESTS();
    Py_RETURN_NONE;
  }
  static PyObject* MakeModule() {
    static PyMethodDef methods[] = {{"run", Run, METH_NOARGS, nullptr}, {}};
    static PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                 "_tests",
                                 nullptr,
                                 -1,
                                 methods,
                                 nullptr,
                                 nullptr,
                                 nullptr,
                                 nullptr};
    return PyModule_Create(&module);
  }
};

// Calls `prepare` in the interpreter, and runs all tests there. Returns what
// main() is to return.
inline int RunTestsInPython(void (*prepare)()) {
  static TraceConfig config;
  config.stacks = true;  // the tables for them
  config.paused = true;
  int region = -1;
  ControlPage* page = Session::CreateRegion(false, &region);
  if (page == nullptr) return 1;
  page->collector_pid = static_cast<uint32_t>(getpid());  // it lives
  if (Session::Prepare(page, &config) != nullptr) return 1;
  EmbeddedTests::prepare = prepare;
  PyImport_AppendInittab("_tests", EmbeddedTests::MakeModule);
  char program[] = PYMEMRUN_PYTHON_EXECUTABLE;
  char option[] = "-c";
  char script[] = "import _tests; _tests.run()";
  char* arguments[] = {program, option, script};
  const int status = Py_BytesMain(3, arguments);
  return status != 0 ? status : EmbeddedTests::result;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_EMBEDDED_PYTHON_FOR_TESTS_H_
