// Calls that tell what happens to the GIL: CPython makes it of a mutex and two
// condition variables.
#include <pthread.h>

#include <atomic>

#include "tracer/base/interposed_state.h"
#include "tracer/base/next_function.h"
#include "tracer/gil/gil_hooks.h"
#include "tracer/interpose/interposed.h"
#include "tracer/tasks/task_hooks.h"

namespace pymemrun {
namespace {

using Cond = std::atomic<const pthread_cond_t*>;

// The condition variables that are watched, and who is called.
struct GilWatch {
  Cond heard{nullptr};        // its signals go to `taken`
  void (*taken)() = nullptr;  // valid once `heard` is not null
  // With --trace gil or --trace tasks; else null.
  Cond traced_taken{nullptr};
  Cond traced_freed{nullptr};
};
constinit GilWatch g_gil;

// GILs of other interpreters, by the places of their accounts. The first has
// none here. One whose interpreter is no more stays, until something else has
// its address.
struct OtherGil {
  Cond taken{nullptr};
  Cond freed{nullptr};
};
constinit OtherGil g_others[kMaxGils];
constinit std::atomic<uint32_t> g_others_end{0};  // 0: there are none
constinit std::atomic<WatchedGil (*)(const pthread_cond_t*)> g_find{nullptr};
constinit std::atomic<void (*)()> g_left_out{nullptr};  // not called yet

bool Is(const pthread_cond_t* cond, const Cond& watched) {
  return cond == watched.load(std::memory_order_acquire);
}

[[gnu::noinline]] void SignalHeard(const pthread_cond_t* cond) {
  if (Is(cond, g_gil.traced_taken)) {
    if (GilHooks::asked()) GilHooks::Taken(0);
    TaskHooks::Takes();
  }
  if (Is(cond, g_gil.heard)) g_gil.taken();
}

void SignalFreed() {
  TaskHooks::LetsGo();
  if (GilHooks::asked()) GilHooks::Freed(0);
}

bool HasOthers() { return g_others_end.load(std::memory_order_relaxed) != 0; }

// The place of the GIL that this variable belongs to; 0: no other GIL's. Linear
// in the number of GILs, which is at most kMaxGils.
uint32_t PlaceOf(const pthread_cond_t* cond, Cond OtherGil::*which) {
  const uint32_t end = g_others_end.load(std::memory_order_acquire);
  for (uint32_t place = 1; place < end; ++place) {
    if (Is(cond, g_others[place].*which)) return place;
  }
  return 0;
}

[[gnu::noinline]] void SignalOther(const pthread_cond_t* cond) {
  const uint32_t freed = PlaceOf(cond, &OtherGil::freed);
  if (freed != 0) return GilHooks::Freed(freed);
  const uint32_t taken = PlaceOf(cond, &OtherGil::taken);
  if (taken != 0) GilHooks::Taken(taken);
}

[[gnu::noinline]] void WaitForOther(const pthread_cond_t* cond) {
  const uint32_t place = PlaceOf(cond, &OtherGil::freed);
  if (place != 0) GilHooks::Waits(place);
}

// `cond` was initialised: perhaps by an interpreter that is being made and has
// its own GIL. Two threads may make one each, so places are claimed by
// compare-and-swap.
[[gnu::noinline]] void LookForGil(const pthread_cond_t* cond,
                                  const WatchedGil& gil) {
  uint32_t place = PlaceOf(cond, &OtherGil::taken);
  if (gil.taken == nullptr) {
    if (place != 0) g_others[place].taken.store(nullptr);
    return;
  }
  for (uint32_t free = 1; place == 0 && free < kMaxGils; ++free) {
    const pthread_cond_t* none = nullptr;
    if (g_others[free].taken.compare_exchange_strong(none, gil.taken)) {
      place = free;
    }
  }
  if (place == 0) {
    const auto left_out = g_left_out.exchange(nullptr);
    if (left_out != nullptr) left_out();
    return;
  }
  GilHooks::Add(place, gil.number);
  g_others[place].freed.store(gil.freed, std::memory_order_release);
  uint32_t end = g_others_end.load();
  while (end <= place &&
         !g_others_end.compare_exchange_weak(end, place + 1)) {
  }
}

}  // namespace

void Interposed::Disable() {
  for (Cond* cond : {&g_gil.heard, &g_gil.traced_taken, &g_gil.traced_freed}) {
    cond->store(nullptr, std::memory_order_relaxed);
  }
  g_find.store(nullptr, std::memory_order_relaxed);
  g_others_end.store(0, std::memory_order_relaxed);
}
void Interposed::WatchGil(const pthread_cond_t* cond, void (*taken)()) {
  g_gil.taken = taken;
  g_gil.heard.store(cond, std::memory_order_release);
}
void Interposed::TraceGil(const WatchedGil& main,
                          WatchedGil (*find)(const pthread_cond_t* taken),
                          void (*left_out)()) {
  // A forked child has only its main interpreter.
  g_others_end.store(0, std::memory_order_relaxed);
  for (OtherGil& other : g_others) {
    other.taken.store(nullptr, std::memory_order_relaxed);
    other.freed.store(nullptr, std::memory_order_relaxed);
  }
  g_gil.traced_taken.store(main.taken, std::memory_order_release);
  g_gil.traced_freed.store(main.freed, std::memory_order_release);
  g_left_out.store(left_out, std::memory_order_relaxed);
  g_find.store(main.taken == nullptr ? nullptr : find,
               std::memory_order_release);
}

}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int pthread_cond_init(
    pthread_cond_t* cond, const pthread_condattr_t* attributes) noexcept {
  const int result = PYMEMRUN_NEXT(pthread_cond_init)(cond, attributes);
  const auto find = g_find.load(std::memory_order_acquire);
  if (find != nullptr) {
    const WatchedGil gil = find(cond);
    if (gil.taken != nullptr || HasOthers()) LookForGil(cond, gil);
  }
  return result;
}

// The interpreter signals right after it has taken the GIL, or just before it
// releases it. In both cases it holds the GIL's mutex.
PYMEMRUN_INTERPOSE int pthread_cond_signal(pthread_cond_t* cond) noexcept {
  if (Is(cond, g_gil.traced_freed)) {
    SignalFreed();
  } else if (Is(cond, g_gil.heard) || Is(cond, g_gil.traced_taken)) {
    SignalHeard(cond);
  } else if (HasOthers()) {
    SignalOther(cond);
  }
  return PYMEMRUN_NEXT(pthread_cond_signal)(cond);
}

// The wait for the GIL, which is repeated with each switch interval.
PYMEMRUN_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* cond,
                                              pthread_mutex_t* mutex,
                                              const timespec* until) {
  if (Is(cond, g_gil.traced_freed)) {
    GilHooks::Waits(0);
  } else if (HasOthers()) {
    WaitForOther(cond);
  }
  return PYMEMRUN_NEXT(pthread_cond_timedwait)(cond, mutex, until);
}

// The wait of a thread that has given up the GIL until another one has taken
// it.
PYMEMRUN_INTERPOSE int pthread_cond_wait(pthread_cond_t* cond,
                                         pthread_mutex_t* mutex) {
  uint32_t place = 0;
  if (!Is(cond, g_gil.traced_taken)) {
    if (HasOthers()) place = PlaceOf(cond, &OtherGil::taken);
    if (place == 0) return PYMEMRUN_NEXT(pthread_cond_wait)(cond, mutex);
  }
  GilHooks::GivesWay(place);
  const int result = PYMEMRUN_NEXT(pthread_cond_wait)(cond, mutex);
  GilHooks::GaveWay(place);
  return result;
}
