#include "collector/process/clock_scale.h"

#include <algorithm>

#include "collector/process/monotonic_clock.h"
#include "tracer/wire/tsc.h"

namespace pymemrun {
namespace {

// A slope from a shorter interval than this would be worse than the one from
// before the run: 40 ns in 20 ms are 2 ppm.
constexpr uint64_t kMinBaselineNs = 20000000;

// Stamps come from the program and may be anything. Converting a double beyond
// 64 bits is undefined in C++.
uint64_t Clamped(double value) {
  constexpr double kEnd = 18446744073709551616.0;  // 2^64
  if (!(value > 0)) return 0;
  return value < kEnd ? static_cast<uint64_t>(value) : UINT64_MAX;
}

}  // namespace

// Reads both clocks eight times and takes the pair whose reading was disturbed
// least.
ClockScale::Pair ClockScale::Measure() {
  Pair best;
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < 8; ++i) {
    const uint64_t before = Tsc();
    const uint64_t ns = MonotonicNs();
    const uint64_t after = Tsc();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + best_width / 2, ns};
    }
  }
  return best;
}

// A time is anchor + (stamp - anchor stamp) * slope. CLOCK_MONOTONIC stamps
// need no measurement; of the TSC the slope is measured since `earlier`.
void ClockScale::Start(bool time_is_tsc, Pair start, Pair earlier) {
  time_is_tsc_ = time_is_tsc;
  start_ = start;
  anchor_us_ = 0;
  if (!time_is_tsc) {
    anchor_stamp_ = start.monotonic_ns;
    SetSlope(1e-3);
    return;
  }
  anchor_stamp_ = start.tsc;
  Pair now = Measure();
  // The collector may have been started just now: waits until there are 2 ms to
  // measure.
  while (now.monotonic_ns - earlier.monotonic_ns < 2000000) now = Measure();
  if (now.tsc > earlier.tsc) {
    SetSlope(static_cast<double>(now.monotonic_ns - earlier.monotonic_ns) /
             1e3 / static_cast<double>(now.tsc - earlier.tsc));
  }
  Recalibrate(now);
}

// The longer the run, the better the slope. The anchor moves to now, so times
// between two measurements are the most exact.
void ClockScale::Recalibrate(Pair now) {
  if (!time_is_tsc_ || now.tsc <= start_.tsc ||
      now.monotonic_ns <= start_.monotonic_ns) {
    return;
  }
  const uint64_t ns = now.monotonic_ns - start_.monotonic_ns;
  if (ns >= kMinBaselineNs) {
    SetSlope(static_cast<double>(ns) / 1e3 /
             static_cast<double>(now.tsc - start_.tsc));
  }
  anchor_stamp_ = now.tsc;
  anchor_us_ = static_cast<double>(ns) / 1e3;
}

void ClockScale::SetSlope(double us_per_tick) {
  us_per_tick_ = us_per_tick;
  ticks_per_us_ = 1 / us_per_tick;
}

// Upper bound of times in the file, so that no stamp is later than the moment
// at which the collector reads it. The clock is read only if `ns` is above what
// it said last.
uint64_t ClockScale::Latest(uint64_t ns) const {
  if (now_ns_ == nullptr) return UINT64_MAX;
  if (ns > seen_ns_) {
    const uint64_t now_ns = now_ns_();
    seen_ns_ = now_ns - std::min(now_ns, start_.monotonic_ns);
  }
  return seen_ns_;
}

uint64_t ClockScale::Micros(uint64_t stamp) const {
  const double us =
      anchor_us_ +
      static_cast<double>(static_cast<int64_t>(stamp - anchor_stamp_)) *
          us_per_tick_;
  const uint64_t micros = std::min(Clamped(us), UINT64_MAX / 1000);
  return std::min(micros, Latest(micros * 1000) / 1000);
}

uint64_t ClockScale::NanosAt(uint64_t stamp) const {
  const double us =
      anchor_us_ +
      static_cast<double>(static_cast<int64_t>(stamp - anchor_stamp_)) *
          us_per_tick_;
  const uint64_t nanos = Clamped(us * 1e3);
  return std::min(nanos, Latest(nanos));
}

uint64_t ClockScale::NanosOfMonotonic(uint64_t monotonic_ns) const {
  if (monotonic_ns <= start_.monotonic_ns) return 0;
  const uint64_t nanos = monotonic_ns - start_.monotonic_ns;
  return std::min(nanos, Latest(nanos));
}

// The first stamp of the next microsecond: the encoder compares stamps with it
// instead of converting each.
uint64_t ClockScale::StampAfter(uint64_t micros) const {
  const double ticks =
      (static_cast<double>(micros + 1) - anchor_us_) * ticks_per_us_;
  return ticks < 0 ? anchor_stamp_ - Clamped(-ticks)
                   : anchor_stamp_ + Clamped(ticks);
}

uint64_t ClockScale::Nanos(uint64_t units) const {
  return Clamped(static_cast<double>(units) * us_per_tick_ * 1e3);
}

uint64_t ClockScale::MicrosOfMonotonic(uint64_t monotonic_ns) const {
  return NanosOfMonotonic(monotonic_ns) / 1000;
}

}  // namespace pymemrun
