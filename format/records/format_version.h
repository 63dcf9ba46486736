// Versions of the run file, Header.format_version. FORMAT.md says what they
// are.
#ifndef PYMEMRUN_FORMAT_RECORDS_FORMAT_VERSION_H_
#define PYMEMRUN_FORMAT_RECORDS_FORMAT_VERSION_H_

#include <cstdint>

namespace pymemrun {

// The highest that readers know.
inline constexpr uint32_t kFormatVersion = 2;
// Of a run without --native, which needs nothing of the later ones, so that
// older readers read it, too.
inline constexpr uint32_t kFormatVersionWithoutRanges = 1;

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_FORMAT_VERSION_H_
