// Sizes and times that tests name.
#ifndef PYMEMRUN_TEXT_UNITS_FOR_TESTS_H_
#define PYMEMRUN_TEXT_UNITS_FOR_TESTS_H_

#include <cstdint>

namespace pymemrun {

// In bytes. A page is that of the run files that tests make.
inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;
// In nanoseconds.
inline constexpr uint64_t kMs = 1000000, kSecond = 1000000000;

}  // namespace pymemrun

#endif  // PYMEMRUN_TEXT_UNITS_FOR_TESTS_H_
