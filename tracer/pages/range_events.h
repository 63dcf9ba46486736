// Page events of calls by which pages leave, move, or come without a fault.
#ifndef PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_
#define PYMEMRUN_TRACER_PAGES_RANGE_EVENTS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/base/interposed_state.h"
#include "tracer/pages/file_watch.h"
#include "tracer/pages/page_events.h"

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
