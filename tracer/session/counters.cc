#include "tracer/session/counters.h"

#include <string.h>

#include <cmath>

#include "tracer/base/clock.h"
#include "tracer/base/heap_inside.h"
#include "tracer/base/hot_state.h"
#include "tracer/cpython/compat.h"
#include "tracer/cpython/gc/gc_runs.h"
#include "tracer/heap/heap_log.h"
#include "tracer/ring/event_ring.h"
#include "tracer/session/parts.h"
#include "tracer/session/ring_lock.h"

namespace pymemrun {
namespace {

constexpr size_t kMostNameBytes = 200;  // the collector would cut it to this

constinit bool g_records = false;
constinit bool g_has_stacks = false;
constinit uint64_t g_gc_begin = 0;  // time stamp of the run under way; 0: none

uint32_t ThisThread(HotState& hot) {
  if (t_thread_id == 0) g_parts.threads.Define(hot, nullptr);
  return t_thread_id;
}

// Stack of the calling thread, if stacks are recorded; otherwise 0.
uint32_t ThisStack(HotState& hot) {
  if (!g_has_stacks) return 0;
  return g_parts.stacks.Of(hot, PymemrunInnermostFrame(PyThreadState_Get()));
}

// GIL held. Runs of the collector do not nest.
void GcBegins() {
  HotState& hot = Hot();
  g_gc_begin = hot.page == nullptr ? 0 : TimeStamp(hot.time_is_tsc);
}

void GcEnds(const PymemrunGcRun* run) {
  HotState& hot = Hot();
  const uint64_t begin = g_gc_begin;
  g_gc_begin = 0;
  // The run may have begun before a fork.
  if (hot.page == nullptr || begin == 0) return;
  const uint64_t end = TimeStamp(hot.time_is_tsc);
  const uint32_t thread = ThisThread(hot);
  const uint32_t stack = ThisStack(hot);
  const GcRunPayload payload = {
      NextNumber(hot), begin, end, run->collected, run->uncollectable, thread,
      run->generation, stack, 0};
  PutStruct(hot, ControlKind::kGcRun, 0, payload);
  HeapLog::StateClock(hot);
}

// Reads `value` as the bits of an int64_t or a double. An int that does not fit
// becomes a double. Returns false with an exception set.
bool ReadValue(PyObject* value, CounterPayload* payload) {
  double real = 0;
  if (PyFloat_Check(value)) {
    real = PyFloat_AsDouble(value);
  } else if (PyIndex_Check(value)) {
    PyObject* const index = PyNumber_Index(value);
    if (index == nullptr) return false;
    int overflow = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(index, &overflow);
    payload->bits = static_cast<uint64_t>(whole);
    if (overflow != 0) real = PyLong_AsDouble(index);
    Py_DECREF(index);
    if (overflow == 0) return true;
    if (PyErr_Occurred() != nullptr) return false;
  } else {
    PyErr_SetString(PyExc_TypeError, "value must be an int or a float");
    return false;
  }
  payload->is_real = 1;
  memcpy(&payload->bits, &real, sizeof(real));
  return true;
}

// Infinities and NaN cannot be drawn, so they are not recorded.
bool IsFinite(const CounterPayload& payload) {
  double real = 0;
  memcpy(&real, &payload.bits, sizeof(real));
  return std::isfinite(real);
}

}  // namespace

void Counters::Prepare(const TraceConfig* config) {
  g_records = config != nullptr && config->traces.has(Trace::kCounters);
  if (!g_records) return;
  g_has_stacks = config->stacks || config->heap.mode == HeapMode::kAll;
  PymemrunPrepareGcRuns();
}

bool Counters::hears_gc_runs() {
  return g_records && PymemrunHearsGcRuns() != 0;
}

void Counters::Start() {
  if (!g_records) return;
  // These allocations are the tracer's.
  const HeapInside inside;
  static constexpr PymemrunGcHeard kHeard = {GcBegins, GcEnds};
  PymemrunWatchGcRuns(&kHeard);
}

void Counters::End() { PymemrunForgetGcRuns(); }

PyObject* Counters::Counter(PyObject*, PyObject* const* arguments,
                            Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError,
                    "counter() takes a name (a str) and a value");
    return nullptr;
  }
  CounterPayload payload = {};
  if (!ReadValue(arguments[1], &payload)) return nullptr;
  HotState& hot = Hot();
  if (!g_records || hot.page == nullptr) Py_RETURN_NONE;
  if (payload.is_real != 0 && !IsFinite(payload)) Py_RETURN_NONE;
  char name[kMostNameBytes];
  const size_t length = PymemrunCopyUtf8(arguments[0], name, sizeof(name));
  if (length > sizeof(name)) {
    PyErr_Format(PyExc_ValueError, "name must have at most %zu bytes",
                 sizeof(name));
    return nullptr;
  }
  const RingLock lock;
  payload.thread = ThisThread(hot);
  payload.tsc = TimeStamp(hot.time_is_tsc);
  PutStruct(hot, ControlKind::kCounter, 0, payload,
            {{static_cast<uint32_t>(length), name}});
  HeapLog::StateClock(hot);
  Py_RETURN_NONE;
}

}  // namespace pymemrun
