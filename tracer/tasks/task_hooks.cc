#include "tracer/tasks/task_hooks.h"

#include <Python.h>
#include <errno.h>

#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/code/own_stack.h"
#include "tracer/code/side_event.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/tasks/greenlet_place.h"
#include "tracer/cpython/tasks/task_place.h"
#include "tracer/ring/side_ring.h"
#include "tracer/tasks/step_items.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

// The greenlet that runs on this thread, and since when. Its address is only
// compared.
struct Running {
  const PyObject* greenlet;  // null: no switch was seen yet
  uint64_t since, rss_bytes;
  // The first greenlet of the thread: not recorded.
  const PyObject* main;
};
constinit thread_local Running t_running = {};

bool Records() { return SideRing::page() != nullptr && TaskHooks::asked(); }

uint64_t AddressOf(const void* object) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(object));
}

// Notes that `greenlet` runs from now on. Within the step of a task, what waits
// is still the task.
void Run(const PyObject* greenlet, uint64_t now) {
  if (t_task.task == 0 || t_task.task == AddressOf(t_running.greenlet)) {
    t_task = {greenlet == t_running.main ? 0 : AddressOf(greenlet), 0};
  }
  t_running.greenlet = greenlet;
  t_running.since = now;
  t_running.rss_bytes = StepItems::RssBytes(now);
}

SideTaskStep StepOf(TaskNote note, uint64_t now) {
  return {{.kind = SideKind::kTaskStep,
           .detail = SideHead::Detail(0, note),
           .time_ns = now},
          AddressOf(t_running.greenlet),
          t_running.since,
          StepItems::RssBytes(now) - t_running.rss_bytes};
}

// Without a stack: that of the calling thread is another greenlet's by now.
void PutWithoutStack(const SideTaskStep& step) {
  SideItem item(step.kind, 0);
  if (!item.ok()) return;
  item.Fill(step);
  item.Commit();
}

// The code of the outermost frame of the running greenlet; null: it runs only C
// code.
const PyCodeObject* OutermostCode() {
  const PyCodeObject* code = nullptr;
  for (const PymemrunFrame* frame = PymemrunInnermostFrame(PyThreadState_Get());
       frame != nullptr; frame = PymemrunFramePrevious(frame)) {
    if (PymemrunFrameRuns(frame)) code = PymemrunFrameCode(frame);
  }
  return code;
}

// Before a switch: the step of the greenlet that leaves ends here, with its
// stack.
void Leaves(PyObject* from, PyObject* to) {
  if (!Records()) return;
  const int saved_errno = errno;
  const uint64_t now = TimeStamp(Hot().time_is_tsc);
  if (t_running.main == nullptr) t_running.main = from;
  // A greenlet without Python code, such as gevent's hub, waits for the others.
  const PyCodeObject* const outermost = OutermostCode();
  if (t_running.greenlet == from && from != t_running.main &&
      outermost != nullptr) {
    if (!StepItems::Knows(from)) StepItems::TellGreenlet(from, outermost);
    PutWithStack(StepOf(TaskNote::kWaits, now));
  }
  if (to != t_running.main && !StepItems::Knows(to)) {
    if (const PyCodeObject* const code = PymemrunGreenletCode(to)) {
      StepItems::TellGreenlet(to, code);
    }
  }
  Run(to, now);
  errno = saved_errno;
}

// Whether a third greenlet ran until now: neither `from` nor `to`. It has ended
// into its parent, and another greenlet had resumed it. It may be freed, so it
// is not read. A dead greenlet that was switched to is no longer known.
bool EndedElsewhere(const PyObject* from, const PyObject* to) {
  const PyObject* const ran = t_running.greenlet;
  return ran != nullptr && ran != from && ran != to && ran != t_running.main &&
         StepItems::Knows(ran);
}

// After a switch. If `to` still runs by the notes, it did not leave by a
// switch: it has ended, or was left unseen.
void Returns(PyObject* from, PyObject* to, int to_ended) {
  if (!Records()) return;
  const int saved_errno = errno;
  const uint64_t now = TimeStamp(Hot().time_is_tsc);
  if (t_running.greenlet == to && to != from && to != t_running.main) {
    if (!StepItems::Knows(to)) StepItems::TellGreenlet(to, nullptr);
    PutWithoutStack(
        StepOf(to_ended != 0 ? TaskNote::kDone : TaskNote::kWaits, now));
    if (to_ended != 0) StepItems::Forget(to);
  } else if (EndedElsewhere(from, to)) {
    PutWithoutStack(StepOf(TaskNote::kDone, now));
    StepItems::Forget(t_running.greenlet);
  }
  if (t_running.greenlet != from) Run(from, now);
  errno = saved_errno;
}

// Records switches from now on. Called once.
void WatchGreenlets() {
  const PymemrunGreenletHooks hooks = {Leaves, Returns};
  PymemrunWatchGreenlets(&hooks);
}

// Shortest time without the GIL that is recorded: 1 ms, in units of
// HotState::staleness (50 us).
constexpr uint64_t kBlockedUnits = kMinTaskBlockedNs / 50000;
// Most frames recorded of what a task awaits.
constexpr size_t kMostAwaited = 32;

struct State {
  bool asked, watches;
  // One more in each forked child: steps of before are not its own.
  uint32_t generation;
};
constinit State g_tasks = {};

// A step under way. The caller keeps it on its stack.
struct Step {
  const PyObject* task;
  uint64_t begin, rss_bytes;
  TaskThread outer;
  uint64_t outer_since;
  TaskNow* now;  // null: there was no room
  uint32_t generation;
};
static_assert(sizeof(Step) <= PYMEMRUN_STEP_BYTES);

// The entry of the calling thread, or a free one; null: all are taken.
TaskNow* PlaceOf(ControlPage* page) {
  const uint32_t thread = NativeThreadId();
  TaskNow* free = nullptr;
  for (TaskNow& now : page->tasks) {
    const uint32_t has = now.thread.load(std::memory_order_relaxed);
    if (has == thread) return &now;
    if (has == 0 && free == nullptr) free = &now;
  }
  if (free != nullptr) free->thread.store(thread, std::memory_order_relaxed);
  return free;
}

void SetNow(TaskNow* now, uint64_t task, uint64_t since) {
  now->task.store(task, std::memory_order_relaxed);
  now->since.store(since, std::memory_order_relaxed);
  if (task == 0) now->thread.store(0, std::memory_order_relaxed);
}

// The frames in which the coroutine waits, the innermost first, as on the wire.
size_t AwaitedBy(PyObject* coroutine, SideFrame* frames) {
  const PymemrunFrame* found[kMostAwaited];
  const size_t count = PymemrunAwaitedFrames(coroutine, found, kMostAwaited);
  for (size_t i = 0; i < count; ++i) {
    const PymemrunFrame* const frame = found[count - 1 - i];
    frames[i] = {OwnStack::IdOf(PymemrunFrameCode(frame)),
                 PymemrunFramePosition(frame)};
  }
  return count;
}

TaskNote NoteOf(PymemrunStepEnd end) {
  switch (end) {
    case kPymemrunStepReturns:
      return TaskNote::kDone;
    case kPymemrunStepCancelled:
      return TaskNote::kCancelled;
    case kPymemrunStepRaises:
      return TaskNote::kRaised;
    case kPymemrunStepWaits:
      break;
  }
  return TaskNote::kWaits;
}

void TellStep(const Step& step, PyObject* coroutine, uint64_t now,
              TaskNote note) {
  SideFrame frames[kMostAwaited];
  const size_t count =
      note == TaskNote::kWaits ? AwaitedBy(coroutine, frames) : 0;
  const size_t behind = SideFrameBytes(count);
  const uint64_t rss_bytes = StepItems::RssBytes(now);
  SideItem item(SideKind::kTaskStep, behind);
  if (!item.ok()) return;
  SideTaskStep& head = item.head<SideTaskStep>();
  head.flags = 0;
  head.detail = SideHead::Detail(count, note);
  head.time_ns = now;
  head.task = AddressOf(step.task);
  head.begin = step.begin;
  head.grown_bytes = rss_bytes - step.rss_bytes;
  if (count > 0) head.frame = frames[0];
  item.Append(frames + kSideFramesInHead, behind);
  item.Commit();
}

// Called before a coroutine is resumed, with the GIL. Returns 0 if it is not
// the coroutine of a running task. Steps nest, so the outer one is kept in the
// step.
int BeginStep(PyObject* coroutine, void* at) {
  ControlPage* const page = SideRing::page();
  if (page == nullptr || !g_tasks.asked) return 0;
  PyObject* const task = PymemrunTaskOf(coroutine);
  if (task == nullptr) return 0;
  const int saved_errno = errno;
  StepItems::TellTask(task, coroutine);
  Step* const step = new (at) Step;
  step->task = task;
  step->outer = t_task;
  step->generation = g_tasks.generation;
  step->now = PlaceOf(page);
  step->outer_since = 0;
  step->begin = TimeStamp(Hot().time_is_tsc);
  step->rss_bytes = StepItems::RssBytes(step->begin);
  if (step->now != nullptr) {
    step->outer_since = step->now->since.load(std::memory_order_relaxed);
    SetNow(step->now, AddressOf(task), step->begin);
  }
  t_task = {AddressOf(task), 0};
  errno = saved_errno;
  return 1;
}

void EndStep(PyObject* coroutine, PymemrunStepEnd end, void* at) {
  const Step& step = *static_cast<const Step*>(at);
  if (step.generation != g_tasks.generation) return;
  const int saved_errno = errno;
  t_task = {step.outer.task, 0};
  if (SideRing::page() != nullptr) {
    if (step.now != nullptr) {
      SetNow(step.now, step.outer.task, step.outer_since);
    }
    TellStep(step, coroutine, TimeStamp(Hot().time_is_tsc), NoteOf(end));
  }
  // Its address may become another's.
  if (end != kPymemrunStepWaits) StepItems::Forget(step.task);
  errno = saved_errno;
}

}  // namespace

constinit thread_local TaskThread t_task = {};

void TaskHooks::Ask(bool tasks, bool calls) {
  g_tasks.asked = tasks;
  StepItems::Ask(calls);
}

bool TaskHooks::asked() { return g_tasks.asked; }

void TaskHooks::Begin() {
  if (g_tasks.watches) return;
  g_tasks.watches = true;
  const PymemrunStepHooks hooks = {BeginStep, EndStep};
  PymemrunWatchSteps(&hooks);
  WatchGreenlets();
}

void TaskHooks::ForgetThread() {
  t_task = {};
  ++g_tasks.generation;
  StepItems::ForgetAll();
  t_running = {};
}

void TaskHooks::NoteLettingGo() {
  t_task.let_go = TimeStamp(Hot().time_is_tsc);
}

// The stack is still that of the call which released the GIL.
void TaskHooks::NoteTaking() {
  const uint64_t since = t_task.let_go;
  t_task.let_go = 0;
  const HotState& hot = Hot();
  const uint64_t now = TimeStamp(hot.time_is_tsc);
  if (now - since < kBlockedUnits * hot.staleness) return;
  PutWithStack(SideTaskStep{{.kind = SideKind::kTaskStep,
                             .detail = SideHead::Detail(0, TaskNote::kBlocked),
                             .time_ns = now},
                            t_task.task,
                            since});
}

}  // namespace pymemrun
