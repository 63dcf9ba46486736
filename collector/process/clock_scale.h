// Converts time stamps of the rings to time since the start of the run.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_CLOCK_SCALE_H_
#define PYMEMRUN_COLLECTOR_PROCESS_CLOCK_SCALE_H_

#include <cstdint>

namespace pymemrun {

// A straight line through the last measured (TSC, CLOCK_MONOTONIC) pair. Its
// slope is that of the longest known interval. The TSC is the same in all
// processes of a machine, so the collector can measure on behalf of the traced
// process. Not thread-safe.
class ClockScale {
 public:
  struct Pair {
    uint64_t tsc = 0;
    uint64_t monotonic_ns = 0;
  };

  // `now_ns` reads CLOCK_MONOTONIC; may be null. With it no result is later
  // than now. Stamps come from the traced program and are not trusted.
  explicit ClockScale(uint64_t (*now_ns)() = nullptr) : now_ns_(now_ns) {}

  // Reads both clocks at one moment: the best of several tries, accurate to
  // some 20 ns. tsc is 0 where the machine has no TSC.
  static Pair Measure();

  // Sets the start of the run. `earlier` is an older pair for a first slope,
  // measured by this process or by a parent of the traced one. If time_is_tsc
  // is false, stamps are nanoseconds of CLOCK_MONOTONIC, and the pairs are not
  // used for a slope.
  void Start(bool time_is_tsc, Pair start, Pair earlier);

  // Measures again. Call it from time to time, and at the end.
  void Recalibrate() { Recalibrate(Measure()); }
  void Recalibrate(Pair now);

  // Microseconds since the start, rounded down; 0 for stamps before it.
  uint64_t Micros(uint64_t stamp) const;
  // Returns the first stamp at which Micros() exceeds `micros`, or one just
  // before it.
  uint64_t StampAfter(uint64_t micros) const;
  // Microseconds since the start, for a time of CLOCK_MONOTONIC.
  uint64_t MicrosOfMonotonic(uint64_t monotonic_ns) const;
  // The same in nanoseconds.
  uint64_t NanosAt(uint64_t stamp) const;
  uint64_t NanosOfMonotonic(uint64_t monotonic_ns) const;
  // Converts a duration in stamp units to nanoseconds.
  uint64_t Nanos(uint64_t units) const;

 private:
  void SetSlope(double us_per_tick);
  // Latest valid result, in nanoseconds since the start. `ns` is the result to
  // be checked; the clock is read only if `ns` is later than the last reading.
  uint64_t Latest(uint64_t ns) const;

  uint64_t (*const now_ns_)();
  mutable uint64_t seen_ns_ = 0;  // last reading of now_ns_

  bool time_is_tsc_ = false;
  Pair start_;
  uint64_t anchor_stamp_ = 0;
  double anchor_us_ = 0;
  double us_per_tick_ = 1e-3;
  double ticks_per_us_ = 1e3;  // saves a division in StampAfter()
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_CLOCK_SCALE_H_
