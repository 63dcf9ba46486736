// Which calls a report is of: --thread, --file, --exclude and --own. Used by
// the reports about calls, so that a number of a peak means the same in all.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "readers/places/table_view.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/calls/call_pairing.h"
#include "readers/run/run_index.h"

namespace pymemrun {

struct CallChoice {
  std::string thread;  // see ThreadFilter
  TableView view;      // the files of the functions
};

// Of one run. Not thread safe; choice and index must outlive it.
class CallFilter {
 public:
  CallFilter(const CallChoice& choice, const RunIndex* index)
      : threads_(choice.thread, index), view_(choice.view), index_(*index) {}

  // With --own GLOB a function of other code is not wanted either.
  bool KeepsSite(uint32_t site);
  bool Keeps(const EndedCall& call) {
    return threads_.Keeps(call.thread) && KeepsSite(call.site);
  }
  ThreadFilter* threads() { return &threads_; }

 private:
  ThreadFilter threads_;
  const TableView& view_;
  const RunIndex& index_;
  std::vector<char> sites_;  // by site: 0, or what KeepsSite() says, + 1
};

// Which of the calls that changed RSS are shown as peaks, and how. Used by the
// reports that number peaks: a number means the same call in all of them.

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

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_
