// When the readings of RSS were highest.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_HIGH_READINGS_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_HIGH_READINGS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/replay/resident/find_peak.h"

namespace pymemrun {

// Keeps a few of many readings. Not thread safe.
class HighReadings {
 public:
  // Whether the two count as equal: VmHWM and RSS are sums of counters that lag
  // by some pages on each CPU.
  static bool IsNear(uint64_t bytes, uint64_t peak_bytes);

  // Times may descend a little.
  void AddRss(uint64_t time_us, uint64_t bytes);
  // VmHWM, which has risen since `after_us`. `rss_bytes` was read at the same
  // time; 0: it was not.
  void AddHwm(uint64_t after_us, uint64_t time_us, uint64_t hwm_bytes,
              uint64_t rss_bytes);
  // The times at which RSS may have been `peak_bytes`. Each stretch ends where
  // RSS or VmHWM was read to be near it. It starts after the last lower
  // reading, as the time of the rise is unknown. REQUIRES: no reading was
  // higher.
  std::vector<RssStretch> Near(uint64_t peak_bytes) const;

 private:
  struct Reading {
    uint64_t time_us, bytes;
    uint64_t after_us = UINT64_MAX;  // set for VmHWM
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
