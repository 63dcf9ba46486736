// The part of a run's time that a report shows: --from and --to. Used by
// everything that sums up times of threads.
#ifndef PYMEMRUN_READERS_PLACES_TIME_RANGE_H_
#define PYMEMRUN_READERS_PLACES_TIME_RANGE_H_

#include <algorithm>
#include <cstdint>

namespace pymemrun {

// Times since the run's start; both ends are included.
struct TimeRange {
  uint64_t begin_ns = 0, end_ns = ~uint64_t{0};

  // The largest time in microseconds whose nanoseconds fit into 64 bits.
  static constexpr uint64_t kMostMicros = ~uint64_t{0} / 1000;

  static TimeRange OfMicros(uint64_t from_us, uint64_t to_us) {
    return {std::min(from_us, kMostMicros) * 1000,
            to_us >= kMostMicros ? ~uint64_t{0} : to_us * 1000};
  }
  // Whether it is less than all of the time.
  bool any() const { return begin_ns > 0 || end_ns != ~uint64_t{0}; }
  bool HasMicros(uint64_t time_us) const {
    return Has(std::min(time_us, kMostMicros) * 1000);
  }
  // Whether its start, or its end, is after `from_us` and not after `to_us`.
  bool BeginsBetween(uint64_t from_us, uint64_t to_us) const {
    const TimeRange between = OfMicros(from_us, to_us);
    return between.begin_ns < begin_ns && begin_ns <= between.end_ns;
  }
  bool EndsBetween(uint64_t from_us, uint64_t to_us) const {
    const TimeRange between = OfMicros(from_us, to_us);
    return between.begin_ns <= end_ns && end_ns < between.end_ns;
  }
  bool Has(uint64_t time_ns) const {
    return time_ns >= begin_ns && time_ns <= end_ns;
  }
  uint64_t Clamp(uint64_t time_ns) const {
    return std::min(std::max(time_ns, begin_ns), end_ns);
  }
  // How much of the time from `from_ns` to `to_ns` is in it. REQUIRES: from <=
  // to.
  uint64_t Overlap(uint64_t from_ns, uint64_t to_ns) const {
    return Clamp(to_ns) - Clamp(from_ns);
  }
  // The part of `amount` in the range, if it is spread evenly over the time.
  // REQUIRES: from <= to.
  uint64_t ShareOf(uint64_t amount, uint64_t from_ns, uint64_t to_ns) const {
    const uint64_t inside = Overlap(from_ns, to_ns);
    if (inside == to_ns - from_ns) return Has(from_ns) ? amount : 0;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(amount) *
                                 inside / (to_ns - from_ns));
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_TIME_RANGE_H_
