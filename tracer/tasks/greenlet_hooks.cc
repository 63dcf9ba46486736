#include "tracer/tasks/greenlet_hooks.h"

#include <Python.h>
#include <errno.h>

#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/code/side_event.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/tasks/greenlet_place.h"
#include "tracer/ring/side_ring.h"
#include "tracer/tasks/step_items.h"
#include "tracer/tasks/task_hooks.h"

namespace pymemrun {
namespace {

// What the calling thread runs: a greenlet, and since when. The address is only
// compared.
struct Running {
  const PyObject* greenlet;  // null: no switch was seen yet
  uint64_t since, rss_bytes;
  // The thread's own, in which it began: not told of.
  const PyObject* main;
};
constinit thread_local Running t_running = {};

bool Records() { return SideRing::page() != nullptr && TaskHooks::asked(); }

uint64_t AddressOf(const PyObject* greenlet) {
  return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(greenlet));
}

// Within a task's step, what waits there stays the task's.
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

// Without the stack of the calling thread, which is another greenlet's.
void PutWithoutStack(const SideTaskStep& step) {
  SideItem item(step.kind, 0);
  if (!item.ok()) return;
  item.Fill(step);
  item.Commit();
}

// Of the greenlet that runs; null: C code alone runs in it.
const PyCodeObject* OutermostCode() {
  const PyCodeObject* code = nullptr;
  for (const PymemrunFrame* frame = PymemrunInnermostFrame(PyThreadState_Get());
       frame != nullptr; frame = PymemrunFramePrevious(frame)) {
    if (PymemrunFrameRuns(frame)) code = PymemrunFrameCode(frame);
  }
  return code;
}

void Leaves(PyObject* from, PyObject* to) {
  if (!Records()) return;
  const int saved_errno = errno;
  const uint64_t now = TimeStamp(Hot().time_is_tsc);
  if (t_running.main == nullptr) t_running.main = from;
  // Where no Python code runs, as in gevent's hub, the thread waits for others.
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

// What runs by our account is neither greenlet of a switch that returns: it
// ended into its parent, which another had not resumed it from. It may be
// freed, so it is not asked. A dead one that was switched to is not known any
// more.
bool EndedElsewhere(const PyObject* from, const PyObject* to) {
  const PyObject* const ran = t_running.greenlet;
  return ran != nullptr && ran != from && ran != to && ran != t_running.main &&
         StepItems::Knows(ran);
}

// One that ran until now and did not leave by a switch of its own has ended, or
// was left in a way that is not seen.
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

}  // namespace

void GreenletHooks::Begin() {
  const PymemrunGreenletHooks hooks = {Leaves, Returns};
  PymemrunWatchGreenlets(&hooks);
}

void GreenletHooks::ForgetThread() { t_running = {}; }

}  // namespace pymemrun
