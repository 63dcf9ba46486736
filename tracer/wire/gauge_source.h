// Sources from which the traced process reads its RSS.
#ifndef PYMEMRUN_TRACER_WIRE_GAUGE_SOURCE_H_
#define PYMEMRUN_TRACER_WIRE_GAUGE_SOURCE_H_

#include <cstdint>

namespace pymemrun {

enum class GaugeSource : uint32_t {
  kAuto = 0,  // requested: the best one; in use: RSS cannot be read
  kFaults = 1,
  kHints = 2,
  kRusage = 3,
  kStatm = 4,
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_WIRE_GAUGE_SOURCE_H_
