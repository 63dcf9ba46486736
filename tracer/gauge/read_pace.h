// How soon RSS is read again though no sign moves.
#ifndef PYMEMRUN_TRACER_GAUGE_READ_PACE_H_
#define PYMEMRUN_TRACER_GAUGE_READ_PACE_H_

#include <cstdint>

namespace pymemrun {

// While RSS is unsettled - more is likely to come that leaves no sign - it is
// read after a thirty-second of the longest pause, then after twice as long
// each time, until the pause is the longest again.
class ReadPace {
 public:
  // The pause until the next read, given the longest allowed; `unsettled` tells
  // what the read just made has shown.
  uint64_t Next(uint64_t longest, bool unsettled) {
    pause_ = unsettled ? longest / 32 + 1 : 2 * pause_;
    if (pause_ == 0 || pause_ >= longest) {
      pause_ = 0;
      return longest;
    }
    return pause_;
  }

 private:
  uint64_t pause_ = 0;  // 0: settled
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_GAUGE_READ_PACE_H_
