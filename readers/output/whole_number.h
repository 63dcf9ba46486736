// Estimates as whole numbers, for tables.
#ifndef PYMEMRUN_READERS_OUTPUT_WHOLE_NUMBER_H_
#define PYMEMRUN_READERS_OUTPUT_WHOLE_NUMBER_H_

#include <cmath>
#include <cstdint>

namespace pymemrun {

// The nearest whole number. Larger values, as from damaged files, become 2^63.
inline uint64_t WholeNumber(double value) {
  if (!(value > 0)) return 0;
  return value >= 0x1p63 ? uint64_t{1} << 63
                         : static_cast<uint64_t>(std::llround(value));
}

// The same with a sign; larger values become +-2^62, and NaN 0.
inline int64_t SignedNumber(double value) {
  if (std::isnan(value)) return 0;
  return std::fabs(value) >= 0x1p62
             ? (value < 0 ? -(int64_t{1} << 62) : int64_t{1} << 62)
             : std::llround(value);
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_WHOLE_NUMBER_H_
