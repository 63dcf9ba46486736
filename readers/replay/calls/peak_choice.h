// Which of the calls that changed RSS are shown as peaks, and how. Used by the
// reports that number peaks: a number means the same call in all of them.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_PEAK_CHOICE_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_PEAK_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/replay/calls/call_pairing.h"
#include "readers/run/run_index.h"

namespace pymemrun {

struct PeakRule {
  uint64_t min_bytes = 200 << 10;  // growth or shrinkage beyond it is a peak
  // A peak is kept when it is farther from the last one kept than either.
  std::optional<uint64_t> min_time_us;  // nothing: a hundredth of the run
  uint64_t min_value_bytes = 500 << 10;
};

// Whether more than so many bytes are charged to a call.
bool IsBeyond(const EndedCall& call, uint64_t bytes);

// The peaks to be shown, in the order of time: peak 1 first. `calls`: in the
// order of their RETURNs. `run_us`: how long the run took.
std::vector<EndedCall> ChoosePeaks(const std::vector<EndedCall>& calls,
                                   const PeakRule& rule, uint64_t run_us);

// "18: Thread-6>main.py:44:run=>212992". `prefix` is left out of files that
// begin with it. As the file has it: escape it before it is shown.
std::string PeakLine(size_t number, const EndedCall& peak,
                     const RunIndex& index, absl::string_view prefix);
// A file without the prefix, if it begins with it.
absl::string_view WithoutPrefix(absl::string_view file,
                                absl::string_view prefix);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_PEAK_CHOICE_H_
