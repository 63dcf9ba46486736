// Of the moments at which RSS was as high as the peak, as far as RSS is known:
// the one at which most was alive.
#ifndef PYMEMRUN_READERS_MOMENTS_MOST_ALIVE_H_
#define PYMEMRUN_READERS_MOMENTS_MOST_ALIVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "readers/heap/heap_replay.h"
#include "readers/resident/find_peak.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

// Not thread safe.
class MostAlive final : public HeapReplay {
 public:
  // Stretches by time; and a moment that is chosen where none is better.
  MostAlive(const std::vector<RssStretch>& stretches, uint64_t at_us);
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void Finish() override;

  // Nothing: none is. REQUIRES: Finish() was called.
  std::optional<uint64_t> Better() const;

 private:
  struct Stretch {
    RssStretch rss;
    double live_bytes;  // the most; below 0: nothing is known yet
    uint64_t live_us;
  };
  void TakeLive(uint64_t time_us);

  const uint64_t at_us_;
  std::vector<Stretch> stretches_;
  size_t now_ = 0;  // the first that is not over
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_MOMENTS_MOST_ALIVE_H_
