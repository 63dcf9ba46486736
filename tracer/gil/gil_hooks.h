// Events of the GIL (--trace gil): what the interposed functions call.
#ifndef PYMEMRUN_TRACER_GIL_GIL_HOOKS_H_
#define PYMEMRUN_TRACER_GIL_GIL_HOOKS_H_

#include <cstdint>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/ring/side_ring.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// Of the calling thread. A forked child finds its parent's, whose `page` is not
// its own.
struct GilThread {
  const ControlPage* page;
  uint32_t id;           // Linux thread id
  uint64_t waits_since;  // 0: it does not wait
  // When it let go while others waited, or was done giving way; 0: it has
  // blocked or worked since, as far as is known. And what it had used by then.
  uint64_t let_go;
  uint64_t cpu_us;
  int64_t blocked;  // so often it had to wait for anything
};
extern constinit thread_local GilThread t_gil;

// What a thread does alone, again and again, costs a clock's reading and a few
// stores: it lets go and takes again, and none comes between. Only a change of
// hands, or a wait, is an item of the side ring.
//
// Each function takes the events of one GIL, by the place of its account. The
// interpreter calls them while it has that GIL's mutex, so that the account has
// one writer, and items are in the order in which things happened. The
// exceptions say so.
class GilHooks {
 public:
  // Threads that wait longer than `min_wait_ns` have stacks. One thread.
  static void Ask(uint64_t min_wait_ns);
  static bool asked() { return min_wait_ns_ != 0; }
  // So long a wait is that has a stack, in units of time stamps. REQUIRES: the
  // clocks were compared.
  static uint64_t MinWait();
  // Events come from here on. The calling thread holds the main interpreter's
  // GIL, whose number is `gil`, and is the only writer because of that; or, if
  // not `in_force`, nobody takes it yet. REQUIRES: the side ring is open, and
  // the clocks were compared.
  static void Begin(uint64_t gil, bool in_force);
  // A GIL that nobody has taken yet has the account `place` from here on.
  // REQUIRES: the one that had it before is no more.
  static void Add(uint32_t place, uint64_t gil);

  // In a forked child: the calling thread is another one for the kernel, and its
  // control page may lie where the parent's did.
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
  // It is about to let others have it.
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
  // It waits until another lets go.
  static void Waits(uint32_t place) {
    if (t_gil.waits_since == 0 || t_gil.page != SideRing::page()) {
      WaitsSlow(place);
    }
  }
  // It has let go, and waits until another has taken the GIL; the second is
  // when that is over. Both without the mutex.
  static void GivesWay(uint32_t place) {
    GiveWay(place, GilNote::kGivingWay);
  }
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
  static uint64_t min_wait_;  // in units of time stamps
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GIL_GIL_HOOKS_H_
