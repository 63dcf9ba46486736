// What a script's own profiler is told, in an order of events that only code
// like greenlet brings about: of two frames each waits for a C call, and the
// one that began first ends first.
#include "tracer/calls/profile_slot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tracer/calls/call_hooks.h"
#include "tracer/session/embedded_python_for_tests.h"

namespace pymemrun {
namespace {

std::vector<int> g_told;

int Profiler(PyObject*, PyFrameObject*, int what, PyObject*) {
  g_told.push_back(what);
  return 0;
}

// Two frames that wait for something, and a C function.
class ProfileSlotTest : public testing::Test {
 protected:
  ProfileSlotTest() {
    PyObject* space = PyModule_GetDict(PyImport_AddModule("__main__"));
    PyObject* result = PyRun_String(
        "def wait():\n"
        "    yield\n"
        "waits = [wait(), wait()]\n"
        "for each in waits: next(each)\n"
        "frames = [each.gi_frame for each in waits]\n",
        Py_file_input, space, space);
    EXPECT_NE(result, nullptr);
    Py_XDECREF(result);
    PyObject* frames = PyDict_GetItemString(space, "frames");
    for (int i = 0; i < 2; ++i) {
      frames_[i] = reinterpret_cast<PyFrameObject*>(PyList_GetItem(frames, i));
    }
    function_ = PyDict_GetItemString(PyEval_GetBuiltins(), "len");
    g_parts.slot.ArmAll(CallHooks::hook(g_parts.log));
  }
  ~ProfileSlotTest() override {
    PyEval_SetProfile(nullptr, nullptr);
    g_parts.slot.DisarmAll();
    EmptyRing();
    g_told.clear();
  }

  // As the evaluator calls what is in the slot.
  void Happens(int frame, int what) {
    PyThreadState* tstate = PyThreadState_Get();
    PymemrunGetSlot(tstate)(nullptr, frames_[frame], what, function_);
  }

  PyFrameObject* frames_[2];
  PyObject* function_;
};

TEST_F(ProfileSlotTest, TheEndOfACallIsToldWhereItsBeginWas) {
  PyEval_SetProfile(Profiler, nullptr);
  Happens(0, PyTrace_C_CALL);
  Happens(0, PyTrace_C_RETURN);
  EXPECT_EQ(g_told, (std::vector<int>{PyTrace_C_CALL, PyTrace_C_RETURN}));
}

TEST_F(ProfileSlotTest, TheEndOfACallThatBeganBeforeIsNot) {
  Happens(0, PyTrace_C_CALL);
  PyEval_SetProfile(Profiler, nullptr);
  Happens(0, PyTrace_C_RETURN);
  EXPECT_EQ(g_told, std::vector<int>{});
}

TEST_F(ProfileSlotTest, NeitherWhileAnotherFramesCallIsUnderWay) {
  Happens(0, PyTrace_C_CALL);
  PyEval_SetProfile(Profiler, nullptr);
  Happens(1, PyTrace_C_CALL);
  Happens(0, PyTrace_C_RETURN);
  EXPECT_EQ(g_told, std::vector<int>{PyTrace_C_CALL});
  Happens(1, PyTrace_C_EXCEPTION);
  EXPECT_EQ(g_told, (std::vector<int>{PyTrace_C_CALL, PyTrace_C_EXCEPTION}));
}

TEST_F(ProfileSlotTest, ACallOutlivesTheProfilerThatHeardItBegin) {
  PyEval_SetProfile(Profiler, nullptr);
  Happens(0, PyTrace_C_CALL);
  PyEval_SetProfile(nullptr, nullptr);
  PyEval_SetProfile(Profiler, nullptr);
  Happens(0, PyTrace_C_RETURN);
  EXPECT_EQ(g_told, (std::vector<int>{PyTrace_C_CALL, PyTrace_C_RETURN}));
}

}  // namespace
}  // namespace pymemrun

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return pymemrun::RunTestsInPython([] {});
}
