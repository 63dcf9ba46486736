// Names of counters that sinks know, and colours that sources share.
#ifndef PYMEMRUN_READERS_LANES_TRACK_NAMES_H_
#define PYMEMRUN_READERS_LANES_TRACK_NAMES_H_

#include "absl/strings/string_view.h"

namespace pymemrun {

inline constexpr absl::string_view kRssCounter = "RSS";
inline constexpr absl::string_view kHwmCounter = "highest RSS (VmHWM)";

inline constexpr absl::string_view kHoldsColor = "#116329";
inline constexpr absl::string_view kGilWaitColor = "#8b1a1a";

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_LANES_TRACK_NAMES_H_
