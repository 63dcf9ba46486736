// When RSS was read to be highest.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_HIGH_READINGS_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_HIGH_READINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/replay/resident/find_peak.h"

namespace pymemrun {

// Keeps few of many readings. Not thread safe.
class HighReadings {
 public:
  // VmHWM and RSS are sums of counters that lag by some pages on each CPU: so
  // little less is the same.
  static bool IsNear(uint64_t bytes, uint64_t peak_bytes);

  // Times may fall a little.
  void AddRss(uint64_t time_us, uint64_t bytes);
  // VmHWM, which has risen since `after_us`. `rss_bytes`: 0 if it was not read.
  void AddHwm(uint64_t after_us, uint64_t time_us, uint64_t hwm_bytes,
              uint64_t rss_bytes);
  // When RSS may have been `peak_bytes`, by time. Each stretch ends where RSS
  // or VmHWM was read to be near that. It begins after the last lower reading:
  // nobody saw when it rose. REQUIRES: none was higher.
  std::vector<RssStretch> Near(uint64_t peak_bytes) const;

 private:
  struct Reading {
    uint64_t time_us, bytes;
    uint64_t after_us = UINT64_MAX;  // of VmHWM
    uint64_t fell_bytes = 0;
  };
  void Add(const Reading& reading);
  void DropLow();

  std::vector<Reading> readings_;  // by time
  uint64_t highest_bytes_ = 0;
  size_t full_at_ = 4096;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_HIGH_READINGS_H_
