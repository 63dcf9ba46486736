// Calls that tell what a thread of a free-threaded interpreter waits for. In
// the tracers of those interpreters alone.
#ifdef Py_GIL_DISABLED

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <optional>

#include "tracer/base/interposed_state.h"
#include "tracer/base/next_function.h"
#include "tracer/gil/lock_waits.h"

namespace pymemrun {
namespace {

// A wait of the calling thread at `semaphore`, called from `caller`. Empty if
// it is not a wait of the interpreter.
class ParkedWait {
 public:
  ParkedWait(const sem_t* semaphore, const void* caller) {
    LockWaits::WaitOf* const wait_of = LockWaits::wait_of();
    if (wait_of == nullptr || TracedPage() == nullptr || IsFree(semaphore)) {
      return;
    }
    const GilNote begins = wait_of(semaphore, caller);
    if (begins != LockWaits::kOther) wait_.emplace(semaphore, begins);
  }

 private:
  // A thread that parks releases what it holds, perhaps the very lock that it
  // parks for. Then the semaphore is posted already and the thread does not
  // wait.
  static bool IsFree(const sem_t* semaphore) {
    int value = 0;
    sem_getvalue(const_cast<sem_t*>(semaphore), &value);
    return value > 0;
  }

  std::optional<LockWaits::Wait> wait_;
};

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE int sem_wait(sem_t* semaphore) {
  const ParkedWait wait(semaphore, __builtin_return_address(0));
  return PYMEMRUN_NEXT(sem_wait)(semaphore);
}

PYMEMRUN_INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock,
                                     const timespec* until) {
  const ParkedWait wait(semaphore, __builtin_return_address(0));
  return PYMEMRUN_NEXT(sem_clockwait)(semaphore, clock, until);
}

PYMEMRUN_INTERPOSE int sem_timedwait(sem_t* semaphore, const timespec* until) {
  const ParkedWait wait(semaphore, __builtin_return_address(0));
  return PYMEMRUN_NEXT(sem_timedwait)(semaphore, until);
}

// The interpreter notes the state of a thread under a key, when the thread
// begins or stops to run Python.
PYMEMRUN_INTERPOSE int pthread_setspecific(pthread_key_t key,
                                           const void* value) noexcept {
  LockWaits::WaitOf* const wait_of = LockWaits::wait_of();
  const void* const caller = __builtin_return_address(0);
  if (wait_of != nullptr && wait_of(nullptr, caller) != LockWaits::kOther &&
      TracedPage() != nullptr) {
    LockWaits::TellThread();
  }
  return PYMEMRUN_NEXT(pthread_setspecific)(key, value);
}

// Before the real call: the waiter may leave the table right after it.
PYMEMRUN_INTERPOSE int sem_post(sem_t* semaphore) noexcept {
  if (LockWaits::wait_of() != nullptr) LockWaits::Wakes(semaphore);
  return PYMEMRUN_NEXT(sem_post)(semaphore);
}

#endif  // Py_GIL_DISABLED
