// Turns the rings' time stamps into time since the run began.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_CLOCK_SCALE_H_
#define PYMEMRUN_COLLECTOR_PROCESS_CLOCK_SCALE_H_

#include <cstdint>

namespace pymemrun {

// A straight line through the newest (TSC, CLOCK_MONOTONIC) pair measured,
// with the slope of the longest interval known. The TSC counts alike in all
// processes of a machine, so the collector can measure for the traced one.
// Not thread safe.
class ClockScale {
 public:
  struct Pair {
    uint64_t tsc = 0;
    uint64_t monotonic_ns = 0;
  };

  // `now_ns`, if any, reads CLOCK_MONOTONIC. No time is then later than now,
  // whatever a stamp says: stamps come from the traced program.
  explicit ClockScale(uint64_t (*now_ns)() = nullptr) : now_ns_(now_ns) {}

  // Both clocks at one moment: the best of several tries, which is off by some
  // 20 ns. tsc is 0 where the machine has none.
  static Pair Measure();

  // `start` is the run's beginning; `earlier` a pair measured before, by this
  // process or by a parent of the traced one, for a first slope. With
  // time_is_tsc false stamps are nanoseconds of CLOCK_MONOTONIC and no pair is
  // needed.
  void Start(bool time_is_tsc, Pair start, Pair earlier);

  // Measures again. To be called now and then, and at the end.
  void Recalibrate() { Recalibrate(Measure()); }
  void Recalibrate(Pair now);

  // Microseconds since the start, rounded down; 0 for stamps before it.
  uint64_t Micros(uint64_t stamp) const;
  // The first stamp at which Micros() exceeds `micros`, or one just before it.
  uint64_t StampAfter(uint64_t micros) const;
  uint64_t MicrosOfMonotonic(uint64_t monotonic_ns) const;
  // The first two in nanoseconds.
  uint64_t NanosAt(uint64_t stamp) const;
  uint64_t NanosOfMonotonic(uint64_t monotonic_ns) const;
  // How long so many units of the stamps are.
  uint64_t Nanos(uint64_t units) const;

 private:
  void SetSlope(double us_per_tick);
  // What no time may exceed, in nanoseconds since the start. `ns`: what is
  // going to be compared with it.
  uint64_t Latest(uint64_t ns) const;

  uint64_t (*const now_ns_)();
  mutable uint64_t seen_ns_ = 0;  // now is that at least

  bool time_is_tsc_ = false;
  Pair start_;
  uint64_t anchor_stamp_ = 0;
  double anchor_us_ = 0;
  double us_per_tick_ = 1e-3;
  double ticks_per_us_ = 1e3;  // a division less in each microsecond of a run
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_CLOCK_SCALE_H_
