// RSS over time in a fixed number of steps, whatever the run's length.
#ifndef PYMEMRUN_READERS_WATCH_RSS_CURVE_H_
#define PYMEMRUN_READERS_WATCH_RSS_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pymemrun {

// The highest RSS in each step of time; where there are too many steps, two
// become one. Not thread safe.
class RssCurve {
 public:
  static constexpr size_t kMostSteps = 1024;

  void Add(uint64_t time_us, uint64_t rss_bytes);
  // So many values from the begin to `end_us`, each the highest of its time, or
  // what RSS was last before it.
  std::vector<double> Values(uint64_t end_us, size_t count) const;

 private:
  uint64_t step_us_ = 1000;
  std::vector<uint64_t> highest_;  // 0: nothing was read
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_RSS_CURVE_H_
