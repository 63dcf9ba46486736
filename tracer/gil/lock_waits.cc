#include "tracer/gil/lock_waits.h"

#include <errno.h>

#include "tracer/base/clock.h"
#include "tracer/base/hot_state.h"
#include "tracer/base/interposed_state.h"
#include "tracer/code/side_event.h"
#include "tracer/ring/side_ring.h"

namespace pymemrun {

// A thread that waits at a semaphore.
struct Waiter {
  std::atomic<uintptr_t> semaphore;  // 0: free; 1: being filled
  std::atomic<uint64_t> since;
  std::atomic<uint32_t> waker;  // Linux thread id; 0: not woken
};

namespace {

constexpr uint32_t kPlaces = 512;  // 2^9
constexpr uint32_t kTries = 8;
constinit Waiter g_waiters[kPlaces] = {};

// Semaphores are on the stacks of their threads, whose addresses have equal low
// bits. So the hash takes the high bits of a product.
Waiter& PlaceFor(uintptr_t semaphore, uint32_t tries) {
  const uint64_t mixed = semaphore * 0x9E3779B97F4A7C15u;
  return g_waiters[(static_cast<uint32_t>(mixed >> 55) + tries) % kPlaces];
}

uintptr_t AddressOf(const void* semaphore) {
  return reinterpret_cast<uintptr_t>(semaphore);
}

// Claims a place by compare-and-swap. The release publishes the other fields to
// Wakes().
Waiter* Enter(const void* semaphore, uint64_t now) {
  for (uint32_t tries = 0; tries < kTries; ++tries) {
    Waiter& place = PlaceFor(AddressOf(semaphore), tries);
    uintptr_t none = 0;
    if (!place.semaphore.compare_exchange_strong(none, 1)) continue;
    place.since.store(now, std::memory_order_relaxed);
    place.waker.store(0, std::memory_order_relaxed);
    place.semaphore.store(AddressOf(semaphore), std::memory_order_release);
    return &place;
  }
  return nullptr;
}

void Put(GilNote note, uint64_t stamp, uint32_t waker) {
  SideItem item(SideKind::kGil, 0);
  if (!item.ok()) return;
  SideLock& head = item.head<SideLock>();
  head.flags = static_cast<uint16_t>(note);
  head.detail = 0;
  head.time_ns = stamp;
  head.gil = 1;
  head.waker = waker;
  head.unused[0] = head.unused[1] = 0;
  item.Commit();
}

void PutStack(GilRole role, uint64_t stamp) {
  PutWithStack(SideGilStack{{.kind = SideKind::kGilStack,
                             .detail = SideHead::Detail(0, role),
                             .time_ns = stamp},
                            /*gil=*/1});
}

uint64_t Now() { return TimeStamp(Hot().time_is_tsc); }

}  // namespace

std::atomic<LockWaits::WaitOf*> LockWaits::wait_of_{nullptr};
uint64_t LockWaits::min_wait_ = ~uint64_t{0};

void LockWaits::Begin(uint64_t min_wait, WaitOf* wait_of) {
  for (Waiter& place : g_waiters) place.semaphore.store(0);
  min_wait_ = min_wait;
  wait_of_.store(wait_of, std::memory_order_release);
  TellThread();
}

void LockWaits::TellThread() {
  const int saved_errno = errno;
  Put(GilNote::kGoesOn, Now(), 0);
  errno = saved_errno;
}

LockWaits::Wait::Wait(const void* semaphore, GilNote begins)
    : begins_(begins), since_(Now()), place_(Enter(semaphore, since_)) {
  const int saved_errno = errno;
  Put(begins, since_, 0);
  errno = saved_errno;
}

LockWaits::Wait::~Wait() {
  const int saved_errno = errno;
  const uint64_t now = Now();
  uint32_t waker = 0;
  if (place_ != nullptr) {
    waker = place_->waker.load(std::memory_order_relaxed);
    place_->semaphore.store(0, std::memory_order_release);
  }
  // Each end follows its beginning in the enumeration.
  Put(static_cast<GilNote>(static_cast<uint16_t>(begins_) + 1), now, waker);
  if (now - since_ >= min_wait_) PutStack(GilRole::kWaiter, now);
  errno = saved_errno;
}

// Called before the semaphore is posted, so the waiter is still in its place.
void LockWaits::Wakes(const void* semaphore) {
  for (uint32_t tries = 0; tries < kTries; ++tries) {
    Waiter& place = PlaceFor(AddressOf(semaphore), tries);
    const uintptr_t at = place.semaphore.load(std::memory_order_acquire);
    if (at != AddressOf(semaphore)) continue;
    const int saved_errno = errno;
    if (TracedPage() == nullptr) return;  // a child's, with our memory
    const uint64_t now = Now();
    place.waker.store(NativeThreadId(), std::memory_order_relaxed);
    if (now - place.since.load(std::memory_order_relaxed) >= min_wait_) {
      PutStack(GilRole::kHolder, now);
    }
    errno = saved_errno;
    return;
  }
}

}  // namespace pymemrun
