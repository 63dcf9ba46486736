// --verify-rss: reads statm beside the gauge at every event and counts how
// often, for how long and by how much the gauge's value was another. In the
// verifying variants of the hooks alone.
#ifndef PYMEMRUN_TRACER_RSS_VERIFIER_H_
#define PYMEMRUN_TRACER_RSS_VERIFIER_H_

#include <cstdint>

#include "tracer/hot_state.h"

namespace pymemrun {

class RssVerifier {
 public:
  // At the event with that time stamp, after the gauge's own check, which read
  // or did not. What it finds goes into hot.page. The time that it takes is no
  // time of running: the gauge's deadline moves on by as much. GIL held; keeps
  // errno. REQUIRES: hot.page is not null.
  static void Check(HotState& hot, uint64_t stamp);
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_RSS_VERIFIER_H_
