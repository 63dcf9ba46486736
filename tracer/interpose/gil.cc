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

// What is watched, and who is told.
struct GilWatch {
  Cond heard{nullptr};        // its signals go to `taken`
  void (*taken)() = nullptr;  // valid once `heard` is not null
  // With --trace gil or --trace tasks; else null.
  Cond traced_taken{nullptr};
  Cond traced_freed{nullptr};
};
constinit GilWatch g_gil;

bool Is(const pthread_cond_t* cond, const Cond& watched) {
  return cond == watched.load(std::memory_order_acquire);
}

[[gnu::noinline]] void SignalHeard(const pthread_cond_t* cond) {
  if (Is(cond, g_gil.traced_taken)) {
    if (GilHooks::asked()) GilHooks::Taken();
    TaskHooks::Takes();
  }
  if (Is(cond, g_gil.heard)) g_gil.taken();
}

void SignalFreed() {
  TaskHooks::LetsGo();
  if (GilHooks::asked()) GilHooks::Freed();
}

}  // namespace

void Interposed::Disable() {
  for (Cond* cond : {&g_gil.heard, &g_gil.traced_taken, &g_gil.traced_freed}) {
    cond->store(nullptr, std::memory_order_relaxed);
  }
}
void Interposed::WatchGil(const pthread_cond_t* cond, void (*taken)()) {
  g_gil.taken = taken;
  g_gil.heard.store(cond, std::memory_order_release);
}
void Interposed::TraceGil(const pthread_cond_t* freed,
                          const pthread_cond_t* taken) {
  g_gil.traced_taken.store(taken, std::memory_order_release);
  g_gil.traced_freed.store(freed, std::memory_order_release);
}

}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int pthread_cond_signal(pthread_cond_t* cond) noexcept {
  if (Is(cond, g_gil.traced_freed)) {
    SignalFreed();
  } else if (Is(cond, g_gil.heard) || Is(cond, g_gil.traced_taken)) {
    SignalHeard(cond);
  }
  return PYMEMRUN_NEXT(pthread_cond_signal)(cond);
}

PYMEMRUN_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* cond,
                                              pthread_mutex_t* mutex,
                                              const timespec* until) {
  if (Is(cond, g_gil.traced_freed)) GilHooks::Waits();
  return PYMEMRUN_NEXT(pthread_cond_timedwait)(cond, mutex, until);
}

PYMEMRUN_INTERPOSE int pthread_cond_wait(pthread_cond_t* cond,
                                         pthread_mutex_t* mutex) {
  if (!Is(cond, g_gil.traced_taken)) {
    return PYMEMRUN_NEXT(pthread_cond_wait)(cond, mutex);
  }
  GilHooks::GivesWay();
  const int result = PYMEMRUN_NEXT(pthread_cond_wait)(cond, mutex);
  GilHooks::GaveWay();
  return result;
}
