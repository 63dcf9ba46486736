// Page events of calls that release, move or populate pages without faults.
#ifndef PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_
#define PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/base/interposed_state.h"
#include "tracer/pages/page_events.h"

namespace pymemrun {

// File mappings that the program makes and releases. The collector may see
// their faults after they are gone. So it is told which file they are, and
// which of their pages were resident, as the kernel maps many around a fault.
//
// Any thread. Allocates nothing and takes no lock; makes some system calls for
// each mapping of a file, and keeps errno.
class FileWatch {
 public:
  // File `fd` was mapped there.
  static void Mapped(const void* address, size_t bytes, int fd);
  // The mapping at `from` moved to `to` with a new length. `stays`: it is still
  // at `from`, too.
  static void Moved(const void* from, const void* to, size_t bytes,
                    bool stays) {
    if (count_.load(std::memory_order_relaxed) != 0) {
      MovedSlow(reinterpret_cast<uintptr_t>(from),
                reinterpret_cast<uintptr_t>(to), bytes, stays);
    }
  }
  // The pages of [address, address + bytes) are about to be released, by a call
  // that started at `time_ns`; 0: that starts now. `stays`: the mapping itself
  // stays.
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

  // Live mappings; more than kSlots are not watched.
  static Slot slots_[kSlots];
  static std::atomic<uint32_t> count_;
};

// Events of one call; create it before the call. It takes the time first,
// because another thread may get the released addresses at once. It also holds
// the place of the events in the side ring: a call that unmaps much takes
// milliseconds, and other events at these addresses must wait until then. Does
// nothing in a vfork child.
class RangeEvents {
 public:
  // `wanted`: the call may have events.
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

  // Call it before the call. Recorded also if pages are scanned.
  void Leaving(const void* address, size_t bytes, bool stays = false) const {
    FileWatch::Leaving(address, bytes, time_ns_, stays);
  }

  // The mapping at `from` is now at `to`, with `bytes` bytes.
  void AddMoved(const void* from, size_t old_bytes, const void* to,
                size_t bytes) const {
    const size_t kept = old_bytes < bytes ? old_bytes : bytes;
    if (to != from) Add(RangeAction::kMoved, from, kept, to);
    // The part after the new end.
    Add(RangeAction::kUnmapped, static_cast<const char*>(from) + kept,
        old_bytes - kept);
  }

 private:
  uint64_t time_ns_ = 0;
  SideItem place_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_
