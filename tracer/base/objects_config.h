// When the object graph is dumped.
#ifndef PYMEMRUN_TRACER_BASE_OBJECTS_CONFIG_H_
#define PYMEMRUN_TRACER_BASE_OBJECTS_CONFIG_H_

#include <cstdint>

namespace pymemrun {

struct ObjectsConfig {
  bool at_exit = false;
  bool at_peak = false;          // of RSS
  uint64_t every_ms = 0;         // 0: not by time
  uint64_t rss_above_bytes = 0;  // once RSS is above it; 0: not by RSS
  int signal = 0;                // that asks for one; 0: none does

  // The collector of the run sees the moment, and asks by a signal.
  bool by_collector() const {
    return at_peak || every_ms != 0 || rss_above_bytes != 0;
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_BASE_OBJECTS_CONFIG_H_
