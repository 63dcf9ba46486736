// Page events of calls by which pages leave, move, or come without a fault.
#ifndef PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_
#define PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/base/interposed_state.h"
#include "tracer/pages/page_events.h"

namespace pymemrun {

// Mappings of files that the program makes and gives back. The collector may
// hear of their faults when they have gone: it is told what they are, and which
// of their pages were there. The kernel maps many around a fault.

// Any thread. Allocates nothing and takes no lock; makes some system calls for
// each mapping of a file, and keeps errno.
class FileWatch {
 public:
  // `fd` is mapped there now.
  static void Mapped(const void* address, size_t bytes, int fd);
  // What was mapped at `from` is at `to` now, and `bytes` long. `stays`: and at
  // `from`, too.
  static void Moved(const void* from, const void* to, size_t bytes,
                    bool stays) {
    if (count_.load(std::memory_order_relaxed) != 0) {
      MovedSlow(reinterpret_cast<uintptr_t>(from),
                reinterpret_cast<uintptr_t>(to), bytes, stays);
    }
  }
  // The pages of [address, address + bytes) are about to leave, by a call that
  // began at `time_ns`; 0: that begins now. `stays`: the mapping does not.
  static void Leaving(const void* address, size_t bytes, uint64_t time_ns,
                      bool stays) {
    if (count_.load(std::memory_order_relaxed) != 0) {
      LeavingSlow(reinterpret_cast<uintptr_t>(address), bytes, time_ns, stays);
    }
  }

 private:
  struct Slot {
    std::atomic<uintptr_t> begin;  // 0: free
    std::atomic<uintptr_t> end;
  };
  static constexpr size_t kSlots = 64;

  static void Watch(uintptr_t begin, uintptr_t end);
  static void MovedSlow(uintptr_t from, uintptr_t to, size_t bytes, bool stays);
  static void LeavingSlow(uintptr_t begin, size_t bytes, uint64_t time_ns,
                          bool stays);

  // Those that live; further ones are not watched.
  static Slot slots_[kSlots];
  static std::atomic<uint32_t> count_;
};

// The events of one call. To be made before it: it takes the time, for the
// addresses that the call gives back may be another's at once, and holds the
// side ring's place for them. A call that unmaps much takes milliseconds, and
// until it is known what has left, what comes at these addresses must wait. In
// a vfork child it does nothing.
class RangeEvents {
 public:
  // `wanted`: there is something to tell of this call.
  explicit RangeEvents(bool wanted = true) {
    if (!wanted || !PageEvents::on() || TracedPage() == nullptr) return;
    // In this order: the collector never sees a time whose place it could not
    // have seen.
    place_.Reserve(SideKind::kNothing, 0);
    time_ns_ = PageEvents::Now();
  }
  ~RangeEvents() {
    if (!place_.ok()) return;
    place_.head().flags = 0;
    place_.Commit();
  }
  RangeEvents(const RangeEvents&) = delete;
  RangeEvents& operator=(const RangeEvents&) = delete;

  bool wanted() const { return time_ns_ != 0; }

  void Add(RangeAction action, const void* address, size_t bytes,
           const void* to = nullptr) const {
    if (wanted()) PageEvents::Range(action, time_ns_, address, bytes, to);
  }

  // To be called before the call. Told where pages are scanned, too.
  void Leaving(const void* address, size_t bytes, bool stays = false) const {
    FileWatch::Leaving(address, bytes, time_ns_, stays);
  }

  // The mapping at `from` is now at `to`, and `bytes` long.
  void AddMoved(const void* from, size_t old_bytes, const void* to,
                size_t bytes) const {
    const size_t kept = old_bytes < bytes ? old_bytes : bytes;
    if (to != from) Add(RangeAction::kMoved, from, kept, to);
    // What lay behind the new end.
    Add(RangeAction::kUnmapped, static_cast<const char*>(from) + kept,
        old_bytes - kept);
  }

 private:
  uint64_t time_ns_ = 0;
  SideItem place_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_
