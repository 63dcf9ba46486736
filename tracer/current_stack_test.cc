// The whole tracer in an interpreter, on programs of all shapes: each time that
// memory is asked for, CurrentStack must answer what the frames say when all of
// them are looked at, and it may look at few.
#include "tracer/current_stack.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tracer/call_hooks.h"
#include "tracer/cpython_compat.h"
#include "tracer/event_log.h"
#include "tracer/profile_slot.h"
#include "tracer/session.h"
#include "tracer/stack_nodes.h"

namespace pymemrun {
namespace {

// Nothing reads the ring.
void TakeAll() {
  ControlPage* page = Hot().page;
  page->tail.store(page->head.load(std::memory_order_relaxed),
                   std::memory_order_release);
}

// Of the program that runs.
struct Answers {
  bool on;
  uint64_t each;  // every so many are compared
  uint64_t asked, compared, wrong, deepest;
  uint64_t frames_seen_before;
};
Answers g_answers = {};

uint32_t WholeStack(HotState& hot, const PymemrunFrame* top) {
  std::vector<const PymemrunFrame*> frames;
  for (const PymemrunFrame* frame = PymemrunFrameThatRuns(top);
       frame != nullptr; frame = PymemrunFrameBack(frame)) {
    frames.push_back(frame);
  }
  if (frames.empty()) return 0;
  const uint64_t depth = frames.size() - 1;
  if (depth > g_answers.deepest) g_answers.deepest = depth;
  const uint64_t first = FirstKept(depth);
  uint32_t stack = first == 0 ? 0 : StackNodes::Deeper(hot);
  for (uint64_t i = first; i <= depth; ++i) {
    stack = StackNodes::Child(hot, stack, frames[depth - i]);
  }
  return stack;
}

void Ask() {
  if (!g_answers.on) return;
  HotState& hot = Hot();
  const PymemrunFrame* top = PymemrunInnermostFrame(PymemrunGilHolder());
  const uint32_t stack = CurrentStack::Of(hot, top);
  if (++g_answers.asked % g_answers.each == 0) {
    ++g_answers.compared;
    if (stack != WholeStack(hot, top)) ++g_answers.wrong;
  }
  TakeAll();
}

PyMemAllocatorEx g_below;

void* Malloc(void*, size_t size) {
  Ask();
  return g_below.malloc(g_below.ctx, size);
}
void* Calloc(void*, size_t count, size_t size) {
  Ask();
  return g_below.calloc(g_below.ctx, count, size);
}
void* Realloc(void*, void* block, size_t size) {
  Ask();
  return g_below.realloc(g_below.ctx, block, size);
}
void Free(void*, void* block) { g_below.free(g_below.ctx, block); }

void LayOverAllocator() {
  PyMem_GetAllocator(PYMEM_DOMAIN_OBJ, &g_below);
  PyMemAllocatorEx ours = {nullptr, Malloc, Calloc, Realloc, Free};
  PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &ours);
}

// How calls are traced meanwhile.
enum Tracing { kNothing, kCalls, kCallsWithStacks };

class CurrentStackTest : public testing::TestWithParam<Tracing> {
 protected:
  // Runs it; each stack that is compared must be right. Returns how many frames
  // were looked at for each answer, on average.
  double Run(const char* call, uint64_t each) {
    const std::string text =
        "exec(open('" PYMEMRUN_PROGRAMS "').read())\n" + std::string(call);
    Hot().stacks = GetParam() == kCallsWithStacks;
    if (GetParam() != kNothing) ProfileSlot::ArmAll(CallHooks::hook());
    g_answers = {.on = true,
                 .each = each,
                 .frames_seen_before = CurrentStack::frames_seen()};
    EXPECT_EQ(PyRun_SimpleString(text.c_str()), 0);
    g_answers.on = false;
    ProfileSlot::DisarmAll();
    EXPECT_GT(g_answers.compared, 100u);
    EXPECT_EQ(g_answers.wrong, 0u) << "of " << g_answers.compared;
    return static_cast<double>(CurrentStack::frames_seen() -
                               g_answers.frames_seen_before) /
           static_cast<double>(g_answers.asked);
  }

  // As many, for frames that are as deep as that.
  void ExpectFew(const char* call, uint64_t depth) {
    const double seen = Run(call, 509);
    EXPECT_GE(g_answers.deepest, depth);
    EXPECT_LT(seen, 8) << call;
  }
};

TEST_P(CurrentStackTest, IsRightWhereverProgramsAllocate) {
  for (int seed = 1; seed <= 20; ++seed) {
    Run(("at_random(" + std::to_string(seed) + ")").c_str(), 1);
  }
}

TEST_P(CurrentStackTest, IsRightOnThreadsThatTakeTurns) {
  Run("on_threads(at_random, 4)", 1);
}

TEST_P(CurrentStackTest, IsRightUnderATraceFunction) {
  Run("under_trace_function(at_random, 5)", 1);
}

TEST_P(CurrentStackTest, IsRightWhenTheProgramProfiles) {
  Run("under_profile_function(at_random, 5)", 1);
}

TEST_P(CurrentStackTest, IsRightForGeneratorsResumedFromElsewhere) {
  Run("resumed_from_elsewhere()", 1);
}

TEST_P(CurrentStackTest, IsRightWhereCodeDies) { Run("dying_code()", 1); }

TEST_P(CurrentStackTest, LooksAtFewFramesOfADeepRecursion) {
  ExpectFew("recursion(20_000)", 19'000);
}

TEST_P(CurrentStackTest, LooksAtFewFramesOfTheDeepest) {
  // More stacks than are known at once.
  ExpectFew("recursion(60_000)", 59'000);
}

TEST_P(CurrentStackTest, LooksAtFewFramesAroundACut) {
  ExpectFew("around(4_096 - 3)", 4'095);
}

TEST_P(CurrentStackTest, LooksAtFewFramesWhereCCodeCallsBack) {
  ExpectFew("with_room(through_map, 5_000)", 4'900);
  ExpectFew("with_room(through_sorted, 5_000)", 4'900);
}

TEST_P(CurrentStackTest, LooksAtFewFramesOfGenerators) {
  ExpectFew("with_room(through_generators, 5_000)", 4'900);
}

TEST_P(CurrentStackTest, LooksAtFewFramesWhereExceptionsUnwind) {
  ExpectFew("unwinding(10_000)", 10'000);
}

TEST_P(CurrentStackTest, LooksAtFewFramesOfThreadsThatTakeTurns) {
  ExpectFew("alternating(10_000)", 9'900);
}

INSTANTIATE_TEST_SUITE_P(Traced, CurrentStackTest,
                         testing::Values(kNothing, kCalls, kCallsWithStacks));

int g_result = 1;

PyObject* RunTests(PyObject*, PyObject*) {
  LayOverAllocator();
  g_result = RUN_ALL_TESTS();
  Py_RETURN_NONE;
}

PyObject* MakeModule() {
  static PyMethodDef methods[] = {{"run", RunTests, METH_NOARGS, nullptr}, {}};
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

int Main() {
  static TraceConfig config;
  config.stacks = true;
  config.paused = true;
  int region = -1;
  ControlPage* page = Session::CreateRegion(false, &region);
  if (page == nullptr) return 1;
  page->collector_pid = static_cast<uint32_t>(getpid());  // it lives
  if (Session::Prepare(page, &config) != nullptr) return 1;
  PyImport_AppendInittab("_tests", MakeModule);
  char program[] = PYMEMRUN_PYTHON_EXECUTABLE;
  char option[] = "-c";
  char script[] = "import _tests; _tests.run()";
  char* arguments[] = {program, option, script};
  const int status = Py_BytesMain(3, arguments);
  return status != 0 ? status : g_result;
}

}  // namespace
}  // namespace pymemrun

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return pymemrun::Main();
}
