// Versions of the run file, Header.format_version. FORMAT.md says what they
// are.
#ifndef PYMEMRUN_FORMAT_RECORDS_FORMAT_VERSION_H_
#define PYMEMRUN_FORMAT_RECORDS_FORMAT_VERSION_H_

#include <cstdint>

namespace pymemrun {

// The highest that readers know.
inline constexpr uint32_t kFormatVersion = 2;
// Version of a run without --native. It needs no later feature, so older
// readers can read it.
inline constexpr uint32_t kFormatVersionWithoutRanges = 1;

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_FORMAT_VERSION_H_
