// The whole tracer in an interpreter, on programs of all shapes: each time that
// memory is asked for, CurrentStack must answer what the frames say when all of
// them are looked at, and it may look at few.
#include "tracer/code/current_stack.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tracer/calls/call_hooks.h"
#include "tracer/calls/profile_slot.h"
#include "tracer/code/stack_nodes.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/frame_mark.h"
#include "tracer/session/embedded_python_for_tests.h"

namespace pymemrun {
namespace {

// How calls are traced then. From the third on stacks are asked for at
// events, too: at all; at all and not at allocations; at some of them.
enum Tracing { kNothing, kCalls, kStacksOfCalls, kStacksAlone, kSomeStacks };

// From the program that runs.
struct Answers {
  bool on;
  bool at_allocations;
  bool at_some;  // events alone, one of several
  uint32_t random;
  uint64_t each;  // one in this many is compared
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
  uint32_t stack = first == 0 ? 0 : g_parts.nodes.Deeper(hot);
  for (uint64_t i = first; i <= depth; ++i) {
    stack = g_parts.nodes.Child(hot, stack, frames[depth - i]);
  }
  return stack;
}

void Compare(const PymemrunFrame* top, uint32_t stack) {
  if (++g_answers.asked % g_answers.each == 0) {
    ++g_answers.compared;
    if (stack != WholeStack(Hot(), top)) ++g_answers.wrong;
  }
  EmptyRing();
}

void Ask() {
  if (!g_answers.on || !g_answers.at_allocations) return;
  HotState& hot = Hot();
  const PymemrunFrame* top = PymemrunInnermostFrame(PymemrunGilHolder());
  Compare(top, g_parts.stacks.Of(hot, top));
}

// Asks at each event, as the hook does that logs them with their stacks.
void AskAt(const PymemrunFrame* frame, bool leaves) {
  g_answers.random = g_answers.random * 1664525 + 1013904223;
  const bool asks = !g_answers.at_some || (g_answers.random >> 16) % 11 == 0;
  if (g_answers.on && asks)
    Compare(frame, g_parts.stacks.AtEvent(Hot(), frame, leaves));
}

#ifdef PYMEMRUN_MONITORING
template <bool kLeaves, bool kUnwinds = false>
PyObject* AskAtCallback(PyObject*, PyObject* const*, size_t, PyObject*) {
  const PymemrunFrame* frame = PymemrunTopFrame(PyThreadState_Get());
  AskAt(frame, kLeaves);
  if (kUnwinds) g_parts.stacks.Unwinds(frame);
  return Py_None;  // immortal
}
constexpr PymemrunCallbacks kAskAtEvent = {
    {AskAtCallback<false>, AskAtCallback<false>, AskAtCallback<true>,
     AskAtCallback<true, true>, AskAtCallback<false>, AskAtCallback<false>,
     AskAtCallback<false>}};
constexpr PymemrunHook kAsker = &kAskAtEvent;
#else
int AskAtEvent(PyObject*, PyFrameObject* f, int what, PyObject*) {
  const PymemrunFrame* frame = PymemrunFrameOf(f);
  ClearSpare(frame);
  AskAt(frame, what == PyTrace_RETURN);
  return 0;
}
constexpr PymemrunHook kAsker = AskAtEvent;
#endif

const PyMemAllocatorEx& Below(void* ctx) {
  return *static_cast<const PyMemAllocatorEx*>(ctx);
}
void* Malloc(void* ctx, size_t size) {
  Ask();
  return Below(ctx).malloc(Below(ctx).ctx, size);
}
void* Calloc(void* ctx, size_t count, size_t size) {
  Ask();
  return Below(ctx).calloc(Below(ctx).ctx, count, size);
}
void* Realloc(void* ctx, void* block, size_t size) {
  Ask();
  return Below(ctx).realloc(Below(ctx).ctx, block, size);
}
void Free(void* ctx, void* block) { Below(ctx).free(Below(ctx).ctx, block); }

void LayOver(PyMemAllocatorDomain domain, PyMemAllocatorEx* below) {
  PyMem_GetAllocator(domain, below);
  PyMemAllocatorEx ours = {below, Malloc, Calloc, Realloc, Free};
  PyMem_SetAllocator(domain, &ours);
}

// Frames that wait in loops are looked at while the stack is deep, and left
// when it is shallow: few are below them.
constexpr char kLeftWhenShallow[] = R"(
def fails_deep():
    recursion(12)
    raise KeyError
    yield
def between(numbers):
    for x in numbers:
        yield
for i in range(200):
    try:
        loop(between(fails_deep()))
    except KeyError:
        pass
    try:
        loop(between(fails_deep()))
    except KeyError:
        pass
)";

class CurrentStackTest : public testing::TestWithParam<Tracing> {
 protected:
  // Runs it; each stack that is compared must be right. Returns how many frames
  // were looked at for each answer, on average.
  double Run(const std::string& call, uint64_t each) {
    const std::string text =
        "exec(open('" PYMEMRUN_PROGRAMS "').read())\n" + call;
    Hot().logs_stacks = false;
    if (GetParam() == kCalls) g_parts.slot.ArmAll(CallHooks::hook(g_parts.log));
    if (GetParam() >= kStacksOfCalls) g_parts.slot.ArmAll(kAsker);
    g_parts.stacks.AskedByAllocations(GetParam() < kStacksAlone);
    g_answers = {.on = true,
                 .at_allocations = GetParam() < kStacksAlone,
                 .at_some = GetParam() == kSomeStacks,
                 .each = each,
                 .frames_seen_before = g_parts.stacks.frames_seen()};
    EXPECT_EQ(PyRun_SimpleString(text.c_str()), 0);
    g_answers.on = false;
    g_parts.slot.DisarmAll();
    EXPECT_GT(g_answers.compared, 50u);
    EXPECT_EQ(g_answers.wrong, 0u) << "of " << g_answers.compared;
    return static_cast<double>(g_parts.stacks.frames_seen() -
                               g_answers.frames_seen_before) /
           static_cast<double>(g_answers.asked);
  }

  // As many, for frames that are as deep as that.
  void ExpectFew(const std::string& call, uint64_t depth) {
    const double seen = Run(call, 97);
    EXPECT_GE(g_answers.deepest, depth);
    EXPECT_LT(seen, 6) << call;
  }
};

TEST_P(CurrentStackTest, IsRightWhereverProgramsAllocate) {
  for (int seed = 1; seed <= 6; ++seed) {
    Run("at_random(" + std::to_string(seed) + ")", 1);
  }
}

TEST_P(CurrentStackTest, IsRightOnThreadsThatTakeTurns) {
  Run("on_threads(at_random, 3)", 1);
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

TEST_P(CurrentStackTest, IsRightForLoopsLeftByExceptions) {
  Run("looped_again()", 1);
  Run(kLeftWhenShallow, 1);
}

TEST_P(CurrentStackTest, IsRightAtTheRecursionLimit) {
  Run("at_the_limit()", 1);
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
  // From 3.12 on C code may not call itself as often as the program says.
  const bool is_free = PY_VERSION_HEX < 0x030C0000;
  for (std::string function : {"through_map", "through_sorted"}) {
    ExpectFew("with_room(" + function + (is_free ? ", 5_000)" : ", 250)"),
              is_free ? 4'900 : 230);
  }
  ExpectFew("with_room(through_init, 250)", 450);
}

TEST_P(CurrentStackTest, LooksAtFewFramesOfGenerators) {
  ExpectFew("with_room(through_senders, 5_000)", 4'900);
  ExpectFew("with_room(through_generators, 5_000)", 4'900);
}

TEST_P(CurrentStackTest, LooksAtFewFramesWhereExceptionsUnwind) {
  ExpectFew("unwinding(10_000)", 9'900);
}

TEST_P(CurrentStackTest, LooksAtFewFramesOfThreadsThatTakeTurns) {
  ExpectFew("alternating(10_000)", 9'900);
}

INSTANTIATE_TEST_SUITE_P(Traced, CurrentStackTest,
                         testing::Values(kNothing, kCalls, kStacksOfCalls));

// Where an exception leaves frames unheard.
class CurrentStackAtTimesTest : public CurrentStackTest {};

TEST_P(CurrentStackAtTimesTest, IsRightWhereverCallsBeginAndEnd) {
  for (int seed = 1; seed <= 6; ++seed) {
    Run("at_random(" + std::to_string(seed) + ")", 1);
  }
}

TEST_P(CurrentStackAtTimesTest, IsRightForGeneratorsResumedFromElsewhere) {
  Run("for i in range(9): resumed_from_elsewhere()", 1);
}

TEST_P(CurrentStackAtTimesTest, IsRightForLoopsLeftByExceptions) {
  Run("looped_again()", 1);
  Run(kLeftWhenShallow, 1);
}

TEST_P(CurrentStackAtTimesTest, LooksAtFewFramesOfGenerators) {
  if (GetParam() == kSomeStacks) GTEST_SKIP() << "many frames move";
  ExpectFew("with_room(through_senders, 5_000)", 4'900);
  ExpectFew("with_room(through_generators, 5_000)", 4'900);
}

INSTANTIATE_TEST_SUITE_P(Traced, CurrentStackAtTimesTest,
                         testing::Values(kStacksAlone, kSomeStacks));

}  // namespace
}  // namespace pymemrun

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return pymemrun::RunTestsInPython([] {
    static PyMemAllocatorEx below[2];
    pymemrun::LayOver(PYMEM_DOMAIN_OBJ, &below[0]);
    pymemrun::LayOver(PYMEM_DOMAIN_MEM, &below[1]);
  });
}
