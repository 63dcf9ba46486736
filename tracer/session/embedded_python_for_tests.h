// Unit tests that run inside an interpreter with the whole tracer, which is
// paused. Nothing reads the ring: they empty it.
#ifndef PYMEMRUN_TRACER_SESSION_EMBEDDED_PYTHON_FOR_TESTS_H_
#define PYMEMRUN_TRACER_SESSION_EMBEDDED_PYTHON_FOR_TESTS_H_

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracer/base/hot_state.h"
#include "tracer/cpython/compat.h"
#include "tracer/ring/shared_region.h"
#include "tracer/session/parts.h"
#include "tracer/session/session.h"

namespace pymemrun {

struct EmbeddedTests {
  static inline void (*prepare)();
  static inline int result = 1;
  static inline ReplyPage* reply = nullptr;

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

inline void EmptyRing() {
  const ControlPage* page = Hot().page;
  EmbeddedTests::reply->tail.store(page->head.load(std::memory_order_relaxed),
                                   std::memory_order_release);
}

// Calls `prepare` in the interpreter, and runs all tests there. Returns what
// main() is to return.
inline int RunTestsInPython(void (*prepare)()) {
  static TraceConfig config;
  config.stacks = true;  // the tables for them
  config.paused = true;
  RegionFds fds;
  ControlPage* page = SharedRegion::Create(false, RingSizes::kWhole, &fds);
  if (page == nullptr) return 1;
  void* const reply = mmap(nullptr, kReplyBytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED, fds.reply, 0);
  if (reply == MAP_FAILED) return 1;
  EmbeddedTests::reply = static_cast<ReplyPage*>(reply);
  EmbeddedTests::reply->collector_pid = static_cast<uint32_t>(getpid());
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

#endif  // PYMEMRUN_TRACER_SESSION_EMBEDDED_PYTHON_FOR_TESTS_H_
