// Events of the GIL (--trace gil), called by the interposed functions.
#ifndef PYMEMRUN_TRACER_GIL_GIL_HOOKS_H_
#define PYMEMRUN_TRACER_GIL_GIL_HOOKS_H_

#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/ring/side_ring.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// GIL state of the calling thread. A forked child inherits that of its parent,
// whose `page` differs from its own.
struct GilThread {
  const ControlPage* page;
  uint32_t id;           // Linux thread id
  uint64_t waits_since;  // 0: not waiting
  // Time when it released the GIL while others waited, or finished giving way;
  // 0: it has blocked or worked since, as far as known. cpu_us and blocked are
  // its counters at that time.
  uint64_t let_go;
  uint64_t cpu_us;
  int64_t blocked;  // number of times it blocked
};
extern constinit thread_local GilThread t_gil;

// Releasing and retaking the GIL without another thread in between is frequent.
// It costs reading a clock and a few stores. Only a change of the holder, or a
// wait, makes an item in the side ring.
//
// Each function takes the index of a GIL in ControlPage::gils. The interpreter
// calls it while it holds the mutex of that GIL. So the entry has one writer,
// and items are in the order of the events. Exceptions are noted.
class GilHooks {
 public:
  // Requests stacks for waits longer than `min_wait_ns`. Call it while there is
  // one thread.
  static void Ask(uint64_t min_wait_ns);
  static bool asked() { return min_wait_ns_ != 0; }
  // Shortest wait that gets a stack, in time-stamp units. REQUIRES: the clocks
  // were compared.
  static uint64_t MinWait();
  // Starts recording. The calling thread holds the main GIL, whose number is
  // `gil`, and is the only writer because of that. If not `in_force`, no thread
  // takes the GIL yet. REQUIRES: the side ring is open, and the clocks were
  // compared.
  static void Begin(uint64_t gil, bool in_force);
  // Assigns entry `place` to a new GIL that was never taken. REQUIRES: the
  // previous GIL of this entry was destroyed.
  static void Add(uint32_t place, uint64_t gil);

  // In a forked child: forgets the thread of the parent, whose control page may
  // have had the same address.
  static void ForgetThread() { t_gil = {}; }

  // The calling thread has taken the GIL.
  static void Taken(uint32_t place) {
    ControlPage* const page = SideRing::page();
    if (page == nullptr) return;
    GilHold& hold = page->gils[place];
    const uint64_t now = TimeStamp(Hot().time_is_tsc);
    const uint64_t since = Get(hold.free_since);
    if (__builtin_expect(IsLast(hold) && t_gil.waits_since == 0, 1)) {
      Set(hold.pauses, Get(hold.pauses) + 1);
      Set(hold.paused, Get(hold.paused) + (now - since));
      Set(hold.free_since, uint64_t{0});
    } else {
      TakenSlow(page, hold, now);
    }
  }
  // The calling thread is about to release the GIL.
  static void Freed(uint32_t place) {
    ControlPage* const page = SideRing::page();
    if (page == nullptr) return;
    GilHold& hold = page->gils[place];
    const uint64_t now = TimeStamp(Hot().time_is_tsc);
    if (__builtin_expect(!IsLast(hold) || Get(hold.waiting) != 0, 0)) {
      FreedSlow(page, hold, now);
    }
    Set(hold.free_since, now);
  }
  // The calling thread waits until another one releases the GIL.
  static void Waits(uint32_t place) {
    if (t_gil.waits_since == 0 || t_gil.page != SideRing::page()) {
      WaitsSlow(place);
    }
  }
  // The calling thread has released the GIL and waits until another thread has
  // taken it; GaveWay(): this wait ends. Called without the mutex.
  static void GivesWay(uint32_t place) { GiveWay(place, GilNote::kGivingWay); }
  static void GaveWay(uint32_t place) { GiveWay(place, GilNote::kGaveWay); }

 private:
  template <typename T>
  static T Get(const std::atomic<T>& word) {
    return word.load(std::memory_order_relaxed);
  }
  template <typename T>
  static void Set(std::atomic<T>& word, T value) {
    word.store(value, std::memory_order_relaxed);
  }
  static bool IsLast(const GilHold& hold) {
    return Get(hold.thread) == t_gil.id && t_gil.id != 0;
  }
  static void Know(const ControlPage* page);
  static void NoteLettingGo(uint64_t now);
  static uint64_t KeptFor(uint64_t now);
  static void Put(GilNote note, uint64_t stamp, uint64_t kept,
                  const GilHold& hold);
  static void PutStack(GilRole role, uint64_t stamp, const GilHold& hold);
  static void TakenSlow(ControlPage* page, GilHold& hold, uint64_t now);
  static void FreedSlow(ControlPage* page, GilHold& hold, uint64_t now);
  static void WaitsSlow(uint32_t place);
  static void GiveWay(uint32_t place, GilNote note);

  static uint64_t min_wait_ns_;
  static uint64_t min_wait_;  // in time-stamp units
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GIL_GIL_HOOKS_H_
