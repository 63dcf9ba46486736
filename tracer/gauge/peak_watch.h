// Finds peaks of RSS between events. The kernel remembers the highest RSS. If
// that exceeds every RSS seen at events, RSS rose and fell again between two
// events.
#ifndef PYMEMRUN_TRACER_GAUGE_PEAK_WATCH_H_
#define PYMEMRUN_TRACER_GAUGE_PEAK_WATCH_H_

#include <cstdint>

namespace pymemrun {

// A finding about VmHWM.
struct PeakFinding {
  bool rose;
  uint64_t hwm_pages;
  uint64_t after_number;  // last event before it rose
};

// All functions need the GIL.
class PeakWatch {
 public:
  // `maxrss_pages` is getrusage's maximum, `hwm_pages` VmHWM, both now.
  void Start(uint64_t maxrss_pages, uint64_t hwm_pages);
  // Whether the maximum of getrusage may still be that of the program before
  // exec. Then VmHWM must be read from /proc.
  bool inherited() const { return inherited_pages_ != 0; }
  // Checks at event `number`. `maxrss_pages` is as above, `seen_pages` the
  // highest RSS at any event. `every_fault`: the gauge saw everything up to the
  // previous event. `pause` is the least time between two reads of /proc, in
  // units of `stamp`.
  PeakFinding Check(uint64_t maxrss_pages, uint64_t seen_pages,
                    bool every_fault, uint64_t number, uint64_t stamp,
                    uint64_t pause);

 private:
  uint64_t inherited_pages_ = 0;  // 0: not from before exec
  uint64_t reported_pages_ = 0;
  uint64_t checked_number_ = 0;  // last event before which VmHWM had not risen
  uint64_t next_stamp_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_PEAK_WATCH_H_
