// --verify-rss: reads statm beside the gauge at every event and counts how
// often, for how long and by how much the gauge was wrong. Only in the
// verifying variants of the hooks.
#ifndef PYMEMRUN_TRACER_GAUGE_RSS_VERIFIER_H_
#define PYMEMRUN_TRACER_GAUGE_RSS_VERIFIER_H_

#include <cstdint>

#include "tracer/base/hot_state.h"
#include "tracer/gauge/rss_gauge.h"

namespace pymemrun {

class RssVerifier {
 public:
  explicit constexpr RssVerifier(const RssGauge& gauge) : gauge_(gauge) {}

  // Checks the event with this time stamp, after the check of the gauge.
  // Results go into hot.page. The time it takes does not count as running time:
  // it moves the deadline of the gauge by as much. Needs the GIL; keeps errno.
  // REQUIRES: hot.page is not null.
  void Check(HotState& hot, uint64_t stamp);

 private:
  void Compare(HotState& hot, uint64_t stamp, uint32_t pages);

  const RssGauge& gauge_;
  // Time stamp of the last event at which the gauge was right, or read; moved
  // with the deadline. The gauge reads at its first event.
  uint64_t right_stamp_ = 0;
  uint64_t gauge_reads_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_RSS_VERIFIER_H_
