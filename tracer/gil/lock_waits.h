// Waits of a free-threaded interpreter (--trace gil), which has locks instead
// of a GIL: what the interposed functions of semaphores call.
#ifndef PYMEMRUN_TRACER_GIL_LOCK_WAITS_H_
#define PYMEMRUN_TRACER_GIL_LOCK_WAITS_H_

#include <atomic>
#include <cstdint>

#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Each wait is two items of the side ring. The second says who ended it. That
// thread finds the waiter by the semaphore, in a table of those that wait: no
// lock, no allocation, and no more than kTries places are looked at. Who finds
// no place there is told without that.
class LockWaits {
 public:
  // As WaitOf(): it is not recorded.
  static constexpr GilNote kOther = GilNote::kTaken;
  // What the calling thread waits for at `semaphore`, called from `caller`:
  // kLockWaiting, kStandsStill, kStopsOthers or kOther. Without a semaphore:
  // kGoesOn if the caller is the interpreter itself, else kOther. Keeps errno.
  using WaitOf = GilNote(const void* semaphore, const void* caller);

  // Waits come from here on, those of `min_wait` time stamps or more with
  // stacks; `wait_of` tells them apart. The program's only thread, before its
  // own code or in a new child. REQUIRES: the side ring is open, and the clocks
  // were compared.
  static void Begin(uint64_t min_wait, WaitOf* wait_of);
  // Null before.
  static WaitOf* wait_of() { return wait_of_.load(std::memory_order_acquire); }

  // The calling thread is there: it begins to run Python, or has just done so.
  // Keeps errno.
  static void TellThread();

  // The calling thread waits at `semaphore` while this lives. `begins` is
  // what WaitOf() said, not kOther. Keeps errno.
  class Wait {
   public:
    Wait(const void* semaphore, GilNote begins);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    const GilNote begins_;
    const uint64_t since_;
    struct Waiter* const place_;  // null: there was none
  };

  // The calling thread lets the one go on that waits at `semaphore`, if one of
  // ours does. Keeps errno.
  static void Wakes(const void* semaphore);

 private:
  static std::atomic<WaitOf*> wait_of_;
  static uint64_t min_wait_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GIL_LOCK_WAITS_H_
