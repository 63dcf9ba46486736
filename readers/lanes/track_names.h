// Names of counters that sinks know.
#ifndef PYMEMRUN_READERS_LANES_TRACK_NAMES_H_
#define PYMEMRUN_READERS_LANES_TRACK_NAMES_H_

#include "absl/strings/string_view.h"

namespace pymemrun {

inline constexpr absl::string_view kRssCounter = "RSS";
inline constexpr absl::string_view kHwmCounter = "highest RSS (VmHWM)";

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_LANES_TRACK_NAMES_H_
