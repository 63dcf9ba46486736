// A short time in which the traced process gives no memory back.
#ifndef PYMEMRUN_COLLECTOR_SIDE_QUIET_SPAN_H_
#define PYMEMRUN_COLLECTOR_SIDE_QUIET_SPAN_H_

#include <cstdint>

#include "collector/process/monotonic_clock.h"
#include "collector/side/side_items.h"

namespace pymemrun {

// A span in which RSS can be compared with the sum of page events. A page
// counts in both within a microsecond. But a call that unmaps much takes
// milliseconds and is dated to its start; RSS changes in between. So RSS is
// only valid while no such call is running. Such a call holds a place in the
// side ring from before its time until its end.
//
// Values read in a span are dated to its start. If a call was missed after all,
// RSS is too low for a while; it is never a false peak.
class QuietSpan {
 public:
  // Begins now. `side` must outlive it; nullptr: there are no page events, and
  // every span is quiet.
  explicit QuietSpan(SideItems* side) : side_(side) {
    quiet_ = Drained();
    places_ = Places();
    begin_ns_ = MonotonicNs();
  }

  uint64_t begin_ns() const { return begin_ns_; }
  // Whether no such call was under way when it began.
  bool began_quiet() const { return quiet_; }
  // Whether none has been until now, and that is within `most_ns` from the
  // begin. Takes what came on the side ring.
  bool Held(uint64_t most_ns) {
    const bool prompt = MonotonicNs() - begin_ns_ <= most_ns;
    return quiet_ && prompt && Drained() && Places() == places_;
  }

 private:
  bool Drained() const {
    if (side_ == nullptr) return true;
    side_->Drain(MonotonicNs(), false);
    return side_->drained();
  }
  uint64_t Places() const { return side_ == nullptr ? 0 : side_->places(); }

  SideItems* const side_;
  bool quiet_;
  uint64_t places_;
  uint64_t begin_ns_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_SIDE_QUIET_SPAN_H_
