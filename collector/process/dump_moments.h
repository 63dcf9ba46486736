// Moments at which the collector asks the program for a dump of its objects.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_DUMP_MOMENTS_H_
#define PYMEMRUN_COLLECTOR_PROCESS_DUMP_MOMENTS_H_

#include <cstdint>

#include "absl/types/optional.h"
#include "tracer/wire/dump_order.h"

namespace pymemrun {

// What the launch text says of them; 0 and false: no such moment.
struct DumpWishes {
  uint64_t every_ms = 0;
  uint64_t rss_above_bytes = 0;
  bool at_peak = false;
};

// Not thread safe.
class DumpMoments {
 public:
  explicit DumpMoments(DumpWishes wishes) : wishes_(wishes) {}

  // Why a dump is due at this time, with RSS as it is (0: not known), if one
  // is. To be called often, with times that do not sink.
  absl::optional<DumpReason> Due(uint64_t now_ns, uint64_t rss_bytes);

 private:
  bool IsTime(uint64_t now_ns);
  bool RoseAbove(uint64_t rss_bytes);
  bool IsNewPeak(uint64_t now_ns, uint64_t rss_bytes);

  const DumpWishes wishes_;
  uint64_t next_ns_ = 0;       // of every_ms; 0: the first call sets it
  bool above_ = false;         // RSS was, when it was last seen
  uint64_t peak_bytes_ = 0;    // at the last dump for its sake...
  uint64_t peak_ns_ = 0;       // ...and when that was
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_DUMP_MOMENTS_H_
