// A moment of a run as users name it: the value of --at, in every report.
#ifndef PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_H_
#define PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// The moment in its parsed form. Find it in a run by RunMoments::Find().
struct Moment {
  enum Kind {
    kPeak,      // the highest RSS
    kHeapPeak,  // the most live bytes
    kEnd,       // when the program's own code ended
    kExit,      // after finalization: the run's last moment
    kTime,
    kShare,
    kMark,
  };
  Kind kind = kPeak;
  uint64_t time_us = 0;    // kTime: since the run started
  double share = 0;        // kShare: of the run's time, 0 to 1
  std::string label = {};  // kMark
};

// The forms that a message lists when it refuses another one.
inline constexpr absl::string_view kMomentForms =
    "peak, heap-peak, end, exit, a time such as 1.5, 1500ms or 50%, or a "
    "mark's label";

// Parses words first, then times; other text is a mark's label. Text after
// "mark:" is always a label. Fails for a time or a share that no run can have.
absl::StatusOr<Moment> ParseMoment(absl::string_view text);

// The same for where something ends that began at `from`. Fails if it is before
// `from` in every run, or, unless `may_be_empty`, not after it. `bound` names
// `from` in the message.
absl::StatusOr<Moment> ParseEnd(absl::string_view text, const Moment& from,
                                absl::string_view bound,
                                bool may_be_empty = false);

// Parses "60s", "500ms", "5m", "2h" to microseconds; a bare number is seconds.
// Returns nothing if the text is not a time, or is 30 years or more.
std::optional<uint64_t> ParseDuration(absl::string_view text);
// The same for an option. Fails if the text is not a time.
absl::StatusOr<uint64_t> ParseTime(absl::string_view text);

// The last moment in the file. Does not report damage.
uint64_t LastMomentOf(RereadFile* file);
// The times of the first and the last event of threads in the file, if any.
std::optional<std::pair<uint64_t, uint64_t>> EventTimesOf(RereadFile* file);
// Whether the file has a moment after this one. Reads no more than needed.
bool GoesOnAfter(uint64_t time_us, RereadFile* file);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_MOMENTS_MOMENT_H_
