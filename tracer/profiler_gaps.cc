#include "tracer/profiler_gaps.h"

#include "tracer/clock.h"
#include "tracer/event_ring.h"
#include "tracer/thread_registry.h"

namespace pymemrun {
namespace {

struct Gap {
  const PyThreadState* tstate;
  uint64_t tstate_id;  // never used again, other than the address
  uint64_t from_number;
  uint64_t from_stamp;
  uint32_t thread;  // 0: another thread began it, and this one had no event
};
constexpr int kMaxGaps = 1024;

Gap g_gaps[kMaxGaps];  // the first count_ of them
// The last thread that is known to have held the GIL.
const PyThreadState* g_holder = nullptr;

Gap* FindGap(const PyThreadState* tstate, int count) {
  for (int i = 0; i < count; ++i) {
    if (g_gaps[i].tstate == tstate) return &g_gaps[i];
  }
  return nullptr;
}

// Removes it from the first *count, too.
void Send(HotState& hot, Gap* gap, int* count) {
  const GapPayload payload = {gap->from_number, NextNumber(hot),
                              gap->from_stamp,  TimeStamp(hot.time_is_tsc),
                              gap->thread,      0};
  const Piece piece = {&payload, sizeof(payload)};
  PutPayload(hot, ControlKind::kProfilerGap, 0, 0, &piece, 1);
  *gap = g_gaps[--*count];
}

// The calling thread's id in the run file.
uint32_t OwnThread(HotState& hot, PyThreadState* tstate) {
  if (t_thread_id == 0) ThreadRegistry::Define(hot, PymemrunTopFrame(tstate));
  return t_thread_id;
}

bool IsAlive(const Gap& gap) {
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    if (t == gap.tstate) return PyThreadState_GetID(t) == gap.tstate_id;
  }
  return false;
}

}  // namespace

int ProfilerGaps::count_ = 0;

void ProfilerGaps::Begin(HotState& hot, PyThreadState* tstate) {
  if (FindGap(tstate, count_) != nullptr || count_ == kMaxGaps) return;
  g_holder = PyThreadState_Get();
  g_gaps[count_++] = {tstate, PyThreadState_GetID(tstate), NextNumber(hot),
                      TimeStamp(hot.time_is_tsc),
                      tstate == g_holder ? OwnThread(hot, tstate) : 0};
}

void ProfilerGaps::End(HotState& hot, PyThreadState* tstate) {
  Gap* gap = FindGap(tstate, count_);
  if (gap == nullptr) return;
  if (tstate == PyThreadState_Get()) gap->thread = OwnThread(hot, tstate);
  Send(hot, gap, &count_);
}

void ProfilerGaps::Flush(HotState& hot) {
  while (count_ > 0) Send(hot, &g_gaps[0], &count_);
}

void ProfilerGaps::OnGilTaken(HotState& hot, PyThreadState* tstate) {
  // A thread ends while it holds the GIL, and there is no event until the GIL
  // is taken anew, which is now.
  Gap* before = FindGap(g_holder, count_);
  if (before != nullptr && !IsAlive(*before)) Send(hot, before, &count_);
  g_holder = tstate;
  Gap* own = FindGap(tstate, count_);
  if (own == nullptr) return;
  if (own->tstate_id != PyThreadState_GetID(tstate)) {
    Send(hot, own, &count_);  // of one that was at this address before
  } else {
    own->thread = t_thread_id;
  }
}

}  // namespace pymemrun
