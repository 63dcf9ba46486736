#include "tracer/calls/profiler_gaps.h"

#include "tracer/base/clock.h"
#include "tracer/calls/open_calls.h"
#include "tracer/code/thread_registry.h"
#include "tracer/ring/event_ring.h"

namespace pymemrun {
namespace {

// Whether this thread state still exists; its address may have been reused.
// Linear in the number of threads.
bool IsAlive(const PyThreadState* tstate, uint64_t id) {
  for (PyThreadState* t =
           PyInterpreterState_ThreadHead(PyInterpreterState_Main());
       t != nullptr; t = PyThreadState_Next(t)) {
    if (t == tstate) return PyThreadState_GetID(t) == id;
  }
  return false;
}

}  // namespace

ProfilerGaps::Gap* ProfilerGaps::Find(const PyThreadState* tstate) {
  for (int i = 0; i < count_; ++i) {
    if (gaps_[i].tstate == tstate) return &gaps_[i];
  }
  return nullptr;
}

// Sends the record of the gap and removes it.
void ProfilerGaps::Send(HotState& hot, Gap* gap) {
  ForgetOpenCalls(hot);
  const GapPayload payload = {gap->from_number, NextNumber(hot),
                              gap->from_stamp,  TimeStamp(hot.time_is_tsc),
                              gap->thread,      0};
  PutStruct(hot, ControlKind::kProfilerGap, 0, payload);
  *gap = gaps_[--count_];
}

// The calling thread's id in the run file.
uint32_t ProfilerGaps::OwnThread(HotState& hot, PyThreadState* tstate) {
  if (t_thread_id == 0) threads_.Define(hot, PymemrunTopFrame(tstate));
  return t_thread_id;
}

void ProfilerGaps::Begin(HotState& hot, PyThreadState* tstate) {
  if (Find(tstate) != nullptr || count_ == kMaxGaps) return;
  ForgetOpenCalls(hot);
  holder_ = PyThreadState_Get();
  gaps_[count_++] = {tstate, PyThreadState_GetID(tstate), NextNumber(hot),
                     TimeStamp(hot.time_is_tsc),
                     tstate == holder_ ? OwnThread(hot, tstate) : 0};
}

void ProfilerGaps::End(HotState& hot, PyThreadState* tstate) {
  Gap* gap = Find(tstate);
  if (gap == nullptr) return;
  if (tstate == PyThreadState_Get()) gap->thread = OwnThread(hot, tstate);
  Send(hot, gap);
}

void ProfilerGaps::Flush(HotState& hot) {
  while (count_ > 0) Send(hot, &gaps_[0]);
}

void ProfilerGaps::OnGilTaken(HotState& hot, PyThreadState* tstate) {
  // A thread ends while it holds the GIL, without an event. The next sign is
  // that the GIL is taken again, which is now.
  Gap* before = Find(holder_);
  if (before != nullptr && !IsAlive(before->tstate, before->tstate_id))
    Send(hot, before);
  holder_ = tstate;
  Gap* own = Find(tstate);
  if (own == nullptr) return;
  if (own->tstate_id != PyThreadState_GetID(tstate)) {
    Send(hot, own);  // of one that was at this address before
  } else {
    own->thread = t_thread_id;
  }
}

}  // namespace pymemrun
