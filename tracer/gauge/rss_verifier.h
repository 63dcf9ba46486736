// --verify-rss: reads statm beside the gauge at every event and counts how
// often, for how long and by how much the gauge's value was another. In the
// verifying variants of the hooks alone.
#ifndef PYMEMRUN_TRACER_GAUGE_RSS_VERIFIER_H_
#define PYMEMRUN_TRACER_GAUGE_RSS_VERIFIER_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/gauge/rss_gauge.h"

namespace pymemrun {

class RssVerifier {
 public:
  explicit constexpr RssVerifier(const RssGauge& gauge) : gauge_(gauge) {}

  // At the event with that time stamp, after the gauge's own check, which read
  // or did not. What it finds goes into hot.page. The time that it takes is no
  // time of running: the gauge's deadline moves on by as much. GIL held; keeps
  // errno. REQUIRES: hot.page is not null.
  void Check(HotState& hot, uint64_t stamp);

 private:
  void Compare(HotState& hot, uint64_t stamp, uint32_t pages);

  const RssGauge& gauge_;
  // Stamp of the last event at which the gauge was right, or read; moved on
  // with the deadline. The gauge reads at its first event.
  uint64_t right_stamp_ = 0;
  uint64_t gauge_reads_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_RSS_VERIFIER_H_
