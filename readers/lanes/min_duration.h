// What sources say of slices that were shorter than --min-duration.
#ifndef PYMEMRUN_READERS_LANES_MIN_DURATION_H_
#define PYMEMRUN_READERS_LANES_MIN_DURATION_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "text/report_text.h"

namespace pymemrun {

// "1 ms (--min-duration)".
inline std::string MinDurationText(uint64_t min_us) {
  return absl::StrFormat("%.15g ms (--min-duration)",
                         static_cast<double>(min_us) / 1000);
}

// "1 of 2 steps of tasks written; the others were shorter than 1 ms
// (--min-duration)", of `one` "step", `many` "steps" and `of` "of tasks".
inline std::string ShorterText(uint64_t given, uint64_t too_short,
                               absl::string_view one, absl::string_view many,
                               absl::string_view of, uint64_t min_us) {
  return absl::StrCat(
      Grouped(given), " of ", Counted(given + too_short, one, many), " ", of,
      " written; the others were shorter than ", MinDurationText(min_us));
}

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_LANES_MIN_DURATION_H_
