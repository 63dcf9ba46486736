// Reduces the values of a counter to what a picture or a viewer can show.
#ifndef PYMEMRUN_READERS_TRACKS_THIN_COUNTER_H_
#define PYMEMRUN_READERS_TRACKS_THIN_COUNTER_H_

#include <cstdint>

#include "readers/tracks/track_sink.h"

namespace pymemrun {

// In each millisecond passes on the highest value and the last one, if they
// differ from the value before. The sink must outlive it. Not thread safe.
class ThinCounter {
 public:
  // The resolution: viewers do not show shorter times.
  static constexpr uint64_t kStepUs = 1000;

  ThinCounter(uint32_t counter, TrackSink* sink)
      : counter_(counter), sink_(*sink) {}

  // A descending time counts as the latest one.
  void Add(uint64_t time_us, uint64_t value) {
    if (has_value_ && time_us < last_.time_us) time_us = last_.time_us;
    if (has_value_ && time_us / kStepUs != last_.time_us / kStepUs) Flush();
    last_ = {time_us, value};
    if (!has_value_ || value > highest_.value) highest_ = last_;
    has_value_ = true;
  }
  // To be called at the end; draws the curve up to the run's end.
  void Finish(uint64_t end_us) {
    Flush();
    if (any_ && given_us_ < end_us) {
      sink_.Count(counter_, end_us, static_cast<int64_t>(given_));
    }
  }
  void Flush() {
    if (!has_value_) return;
    if (highest_.time_us < last_.time_us) Give(highest_);
    Give(last_);
    has_value_ = false;
  }

 private:
  struct Value {
    uint64_t time_us = 0, value = 0;
  };
  void Give(const Value& value) {
    if (any_ && value.value == given_) return;
    any_ = true;
    given_ = value.value;
    given_us_ = value.time_us;
    sink_.Count(counter_, value.time_us, static_cast<int64_t>(value.value));
  }

  const uint32_t counter_;
  TrackSink& sink_;
  Value last_, highest_;  // in this millisecond
  uint64_t given_ = 0, given_us_ = 0;
  bool has_value_ = false, any_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TRACKS_THIN_COUNTER_H_
