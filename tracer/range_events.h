// Page events of calls by which pages leave, move, or come without a fault.
#ifndef PYMEMRUN_TRACER_RANGE_EVENTS_H_
#define PYMEMRUN_TRACER_RANGE_EVENTS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/hot_state.h"
#include "tracer/interposed_state.h"
#include "tracer/page_events.h"

namespace pymemrun {

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
    place_.Reserve(0);
    time_ns_ = PageEvents::Now();
  }
  ~RangeEvents() {
    if (!place_.ok()) return;
    place_.head().kind = SideKind::kNothing;
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

// Tells of pages that a call made the break give back. Costs two loads where it
// did not; so the time is that of the call's end.
class BreakWatch {
 public:
  BreakWatch() : before_(Break()) {}
  void AddTrimmed() const {
    const char* now = Break();
    if (now >= before_) return;
    RangeEvents().Add(RangeAction::kTrimmed, now,
                      static_cast<size_t>(before_ - now));
  }

 private:
  static const char* Break() {
    void* const* word = Hot().brk_word;
    return word != nullptr ? static_cast<const char*>(*word) : nullptr;
  }
  const char* const before_;
};

// The mapping that glibc made for one block alone; `bytes` is 0 where the block
// has none.
struct MappedBlock {
  const char* start = nullptr;
  size_t bytes = 0;
};

// Of a block of malloc's: such a one begins 16 bytes into a page, and of the
// two words before it the nearer is its size with bit 1 set, the other what
// lies unused before it.
inline MappedBlock MappedBlockOf(const void* block) {
  constexpr size_t kMapped = 2, kFlags = 7, kPage = 4096;
  if ((reinterpret_cast<uintptr_t>(block) & (kPage - 1)) != 0x10) return {};
  const size_t size = static_cast<const size_t*>(block)[-1];
  const size_t before = static_cast<const size_t*>(block)[-2];
  if ((size & kMapped) == 0) return {};
  const MappedBlock mapping = {static_cast<const char*>(block) - 16 - before,
                               (size & ~kFlags) + before};
  const bool sound = before % kPage == 0 && mapping.bytes % kPage == 0 &&
                     mapping.bytes < size_t{1} << 46;
  return sound ? mapping : MappedBlock{};
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RANGE_EVENTS_H_
