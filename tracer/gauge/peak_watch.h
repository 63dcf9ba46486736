// Finds peaks of RSS that no event saw: the kernel remembers the highest RSS
// ever, and when that is above everything seen at events, RSS rose and sank
// again between two of them.
#ifndef PYMEMRUN_TRACER_GAUGE_PEAK_WATCH_H_
#define PYMEMRUN_TRACER_GAUGE_PEAK_WATCH_H_

#include <cstdint>

namespace pymemrun {

// What was found out about VmHWM.
struct PeakFinding {
  bool rose;
  uint64_t hwm_pages;
  uint64_t after_number;  // it had not risen yet at this event
};

// GIL held.
class PeakWatch {
 public:
  // `maxrss_pages` is getrusage's maximum, `hwm_pages` VmHWM, both now.
  void Start(uint64_t maxrss_pages, uint64_t hwm_pages);
  // Whether getrusage's maximum may still be that of the process we were before
  // exec. Then VmHWM has to be read as text.
  bool inherited() const { return inherited_pages_ != 0; }
  // At the event `number`: `maxrss_pages` as above, `seen_pages` the highest
  // RSS at any event; `every_fault` tells whether the gauge saw everything up
  // to the event before. `pause` is the least time between two readings of the
  // text, in units of `stamp`.
  PeakFinding Check(uint64_t maxrss_pages, uint64_t seen_pages,
                    bool every_fault, uint64_t number, uint64_t stamp,
                    uint64_t pause);

 private:
  uint64_t inherited_pages_ = 0;  // 0: the maximum is this program's own
  uint64_t reported_pages_ = 0;
  uint64_t checked_number_ = 0;  // VmHWM was known not to have risen here
  uint64_t next_stamp_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_PEAK_WATCH_H_
