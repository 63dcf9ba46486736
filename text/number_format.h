// Writes numbers as text, for the row path: no locale, no allocation, no
// printf. Each function writes to `out` and returns the end of what it wrote.
#ifndef PYMEMRUN_TEXT_NUMBER_FORMAT_H_
#define PYMEMRUN_TEXT_NUMBER_FORMAT_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pymemrun {

// The widest text of any number: "-9223372036854775808", and a time of 2^64
// microseconds ("18446744073709.551615"), fit.
inline constexpr size_t kMaxNumberWidth = 24;

// The digits of a number, with its sign.
inline char* WriteDecimal(uint64_t value, char* out) {
  return std::to_chars(out, out + kMaxNumberWidth, value).ptr;
}

inline char* WriteDecimal(int64_t value, char* out) {
  return std::to_chars(out, out + kMaxNumberWidth, value).ptr;
}

// Microseconds as seconds with six decimals: 684542 is "0.684542".
inline char* WriteSeconds(uint64_t time_us, char* out) {
  out = WriteDecimal(time_us / 1000000, out);
  uint32_t fraction = static_cast<uint32_t>(time_us % 1000000);
  *out = '.';
  for (int i = 6; i > 0; --i) {
    out[i] = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  return out + 7;
}

// Pads the output of `write` with spaces on the right, up to `width`. REQUIRES:
// width <= 32.
template <typename Write>
char* WriteLeft(size_t width, char* out, Write write) {
  char* const full = out + width;
  std::memset(out, ' ', width);
  char* const end = write(out);
  return end > full ? end : full;
}

// The same with spaces on the left.
template <typename Number>
char* WriteRight(size_t width, Number value, char* out) {
  char text[kMaxNumberWidth];
  const size_t size = WriteDecimal(value, text) - text;
  if (size < width) {
    std::memset(out, ' ', width - size);
    out += width - size;
  }
  std::memcpy(out, text, size);
  return out + size;
}

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_NUMBER_FORMAT_H_
