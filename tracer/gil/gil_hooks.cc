#include "tracer/gil/gil_hooks.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "tracer/code/side_event.h"
#include "tracer/ring/event_ring.h"
#include "tracer/ring/row_writer.h"

namespace pymemrun {
namespace {

// Most CPU time between releasing the GIL and wanting it again in which a
// thread does nothing else.
constexpr uint64_t kStraightUs = 50;

struct Used {
  uint64_t cpu_us;
  int64_t blocked;
};
// CPU time and voluntary context switches of the calling thread.
Used UsedByThread() {
  const int saved_errno = errno;
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  errno = saved_errno;
  const auto micros = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1000000 +
           static_cast<uint64_t>(t.tv_usec);
  };
  return {micros(usage.ru_utime) + micros(usage.ru_stime), usage.ru_nvcsw};
}

// The time that hot.staleness has in units of stamps.
constexpr uint64_t kStaleNs = 50000;

// The event with that number, or null if the history has overwritten it.
const RawEvent* EventOf(const HotState& hot, uint64_t number) {
  const RawEvent& event = hot.history[number & hot.history_mask];
  return event.number == number ? &event : nullptr;
}

EventWhat WhatOf(const RawEvent& event) {
  return static_cast<EventWhat>(event.what_and_code >> kWhatShift);
}

// Id of the C function that this thread ran for most of the time since `since`.
// It is known if the last event of all was its call, or its return right after
// its call. 0: not known, or Python code ran. REQUIRES: the GIL.
uint32_t LastCFunction(uint64_t since, uint64_t now) {
  const HotState& hot = Hot();
  if (hot.page == nullptr || hot.history == nullptr) return 0;
  if (t_thread_id == 0 || t_thread_id != hot.current_thread) return 0;
  const uint64_t number = NextNumber(hot);
  if (number < 2) return 0;
  const RawEvent* call = EventOf(hot, number - 1);
  if (call == nullptr || WhatOf(*call) < EventWhat::kCCall) return 0;
  uint64_t end = now;
  if (WhatOf(*call) != EventWhat::kCCall) {
    end = call->stamp;
    call = EventOf(hot, number - 2);
  }
  if (call == nullptr || call->thread != t_thread_id ||
      WhatOf(*call) != EventWhat::kCCall) {
    return 0;
  }
  const uint64_t begin = call->stamp > since ? call->stamp : since;
  return end > begin && (end - begin) * 2 > now - since ? call->function : 0;
}

}  // namespace

constinit thread_local GilThread t_gil = {};
uint64_t GilHooks::min_wait_ns_ = 0;
uint64_t GilHooks::min_wait_ = ~uint64_t{0};

void GilHooks::Ask(uint64_t min_wait_ns) { min_wait_ns_ = min_wait_ns; }

uint64_t GilHooks::MinWait() {
  const double units = static_cast<double>(Hot().staleness) / kStaleNs;
  return static_cast<uint64_t>(static_cast<double>(min_wait_ns_) * units);
}

void GilHooks::Begin(uint64_t gil, bool in_force) {
  ControlPage* const page = SideRing::page();
  if (page == nullptr) return;
  min_wait_ = MinWait();
  Know(page);
  GilHold& hold = page->gils[0];
  Set(hold.gil, gil);
  if (in_force) TakenSlow(page, hold, TimeStamp(Hot().time_is_tsc));
}

// The collector learns the last state of the GIL that this entry had before.
void GilHooks::Add(uint32_t place, uint64_t gil) {
  ControlPage* const page = SideRing::page();
  // Before Begin(), and in a child until then.
  if (page == nullptr || Get(page->gils[0].gil) == 0) return;
  GilHold& hold = page->gils[place];
  if (Get(hold.gil) != 0 && Get(hold.thread) != 0) {
    Put(GilNote::kEnded, TimeStamp(Hot().time_is_tsc),
        uint64_t{Get(hold.thread)} << kGilKeptShift, hold);
  }
  Set(hold.thread, uint32_t{0});
  Set(hold.waiting, uint32_t{0});
  Set(hold.free_since, uint64_t{0});
  Set(hold.pauses, uint64_t{0});
  Set(hold.paused, uint64_t{0});
  Set(hold.gil, gil);
}

// The page differs in a forked child, which inherits t_gil.
void GilHooks::Know(const ControlPage* page) {
  if (t_gil.page == page) return;
  t_gil = {};
  t_gil.page = page;
  t_gil.id = NativeThreadId();
}

void GilHooks::NoteLettingGo(uint64_t now) {
  const Used used = UsedByThread();
  t_gil.let_go = now;
  t_gil.cpu_us = used.cpu_us;
  t_gil.blocked = used.blocked;
}

// A thread that has to give up the GIL wants it back at once. But the thread
// that it wakes may take its CPU before it can report that. So a thread that
// neither blocked nor worked since then has been prevented from running.
// Returns for how long; 0: it has not.
uint64_t GilHooks::KeptFor(uint64_t now) {
  const uint64_t let_go = t_gil.let_go;
  if (let_go == 0) return 0;
  t_gil.let_go = 0;
  const Used used = UsedByThread();
  const bool straight = used.blocked == t_gil.blocked &&
                        used.cpu_us - t_gil.cpu_us <= kStraightUs;
  return straight ? now - let_go : 0;
}

void GilHooks::Put(GilNote note, uint64_t stamp, uint64_t kept,
                   const GilHold& hold) {
  const int saved_errno = errno;
  // These two notes come without the mutex of the GIL, so the account may
  // change at any time.
  const bool alone = note == GilNote::kGivingWay || note == GilNote::kGaveWay;
  SideItem item(SideKind::kGil, 0);
  if (item.ok()) {
    SideGil& head = item.head<SideGil>();
    head.flags = static_cast<uint16_t>(note);
    const uint64_t units = kept >> kGilKeptShift;
    head.detail =
        units > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(units);
    head.time_ns = stamp;
    head.gil = Get(hold.gil);
    head.free_since = alone ? 0 : Get(hold.free_since);
    head.paused = alone ? 0 : Get(hold.paused);
    head.pauses = alone ? 0 : Get(hold.pauses);
    item.Commit();
  }
  errno = saved_errno;
}

void GilHooks::PutStack(GilRole role, uint64_t stamp, const GilHold& hold) {
  PutWithStack(SideGilStack{{.kind = SideKind::kGilStack,
                             .detail = SideHead::Detail(0, role),
                             .time_ns = stamp},
                            Get(hold.gil),
                            role == GilRole::kHolder
                                ? LastCFunction(Get(hold.kept_since), stamp)
                                : 0});
}

// The item carries the account of the last holder, so it is written before the
// account begins anew.
void GilHooks::TakenSlow(ControlPage* page, GilHold& hold, uint64_t now) {
  // Before Begin(), and in a child until then.
  if (Get(hold.gil) == 0) return;
  Know(page);
  const uint64_t waited_since = t_gil.waits_since;
  t_gil.waits_since = 0;
  if (waited_since != 0) Set(hold.waiting, Get(hold.waiting) - 1);
  Put(GilNote::kTaken, now, waited_since == 0 ? KeptFor(now) : 0, hold);
  Set(hold.thread, t_gil.id);
  Set(hold.free_since, uint64_t{0});
  Set(hold.pauses, uint64_t{0});
  Set(hold.paused, uint64_t{0});
  Set(hold.kept_since, now);
  if (waited_since != 0 && now - waited_since >= min_wait_) {
    PutStack(GilRole::kWaiter, now, hold);
  }
}

// Other threads wait, or this thread was not seen taking the GIL.
void GilHooks::FreedSlow(ControlPage* page, GilHold& hold, uint64_t now) {
  if (Get(hold.gil) == 0) return;
  Know(page);
  if (!IsLast(hold)) TakenSlow(page, hold, now);
  if (Get(hold.waiting) == 0) return;
  NoteLettingGo(now);
  if (now - Get(hold.kept_since) < min_wait_) return;
  PutStack(GilRole::kHolder, now, hold);
  Set(hold.kept_since, now);
}

// The first waiter starts the time for which the holder keeps others waiting.
void GilHooks::WaitsSlow(uint32_t place) {
  ControlPage* const page = SideRing::page();
  if (page == nullptr || Get(page->gils[place].gil) == 0) return;
  Know(page);
  GilHold& hold = page->gils[place];
  const uint64_t now = TimeStamp(Hot().time_is_tsc);
  t_gil.waits_since = now;
  const uint32_t waiting = Get(hold.waiting);
  if (waiting == 0) Set(hold.kept_since, now);
  Set(hold.waiting, waiting + 1);
  Put(GilNote::kWaiting, now, KeptFor(now), hold);
}

void GilHooks::GiveWay(uint32_t place, GilNote note) {
  ControlPage* const page = SideRing::page();
  if (page == nullptr || Get(page->gils[place].gil) == 0) return;
  const uint64_t now = TimeStamp(Hot().time_is_tsc);
  const bool begins = note == GilNote::kGivingWay;
  Put(note, now, begins ? KeptFor(now) : 0, page->gils[place]);
  if (!begins) NoteLettingGo(now);
}

}  // namespace pymemrun
