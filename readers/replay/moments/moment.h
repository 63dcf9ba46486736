// A moment of a run as people name it: what --at takes, in every report.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

struct Moment {
  enum Kind {
    kPeak,      // the highest RSS
    kHeapPeak,  // the most live bytes
    kEnd,       // of the program's own code
    kExit,      // after finalization, the run's last moment
    kTime,
    kShare,
    kMark,
  };
  Kind kind = kPeak;
  uint64_t time_us = 0;    // kTime: since the run began
  double share = 0;        // kShare: of the run's time, 0 to 1
  std::string label = {};  // kMark
};

// What a message lists where something else was given.
inline constexpr absl::string_view kMomentForms =
    "peak, heap-peak, end, exit, a time such as 1.5, 1500ms or 50%, or a "
    "mark's label";

// Words first, then times; any other text is a mark's label. After "mark:" all
// is the label. Fails for a time or a share that no run can have.
absl::StatusOr<Moment> ParseMoment(absl::string_view text);

// "60s", "500ms", "5m", "2h" as microseconds; a bare number is seconds.
// Nothing: the text is no time, or one of 30 years or more.
std::optional<uint64_t> ParseDuration(absl::string_view text);
// The same for an option. Fails where it is no time.
absl::StatusOr<uint64_t> ParseTime(absl::string_view text);

// How long a run went on.

// The last moment that a file tells of. Nothing is said of what is wrong in it.
uint64_t LastMomentOf(RereadFile* file);
// Whether it tells of one after this. Reads no more than is needed.
bool GoesOnAfter(uint64_t time_us, RereadFile* file);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_H_
