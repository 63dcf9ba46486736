// Which calls a report shows: --thread, --file, --exclude and --own. All
// reports about calls use it, so that they number peaks alike.
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

// The options that choose calls.
struct CallChoice {
  std::string thread;  // see ThreadFilter
  TableView view;      // limits the files of the functions
};

// Filters one run. Not thread safe. The choice and the index must outlive it.
class CallFilter {
 public:
  CallFilter(const CallChoice& choice, const RunIndex* index)
      : threads_(choice.thread, index), view_(choice.view), index_(*index) {}

  // With --own GLOB functions of other code are left out, too.
  bool KeepsSite(uint32_t site);
  bool Keeps(const EndedCall& call) {
    return threads_.Keeps(call.thread) && KeepsSite(call.site);
  }
  ThreadFilter* threads() { return &threads_; }

 private:
  ThreadFilter threads_;
  const TableView& view_;
  const RunIndex& index_;
  // By site: 0: not asked yet; otherwise KeepsSite() + 1.
  std::vector<char> sites_;
};

// Which calls that changed RSS are shown as peaks, and how. All reports that
// number peaks use it, so that a number means the same call in all of them.
struct PeakRule {
  uint64_t min_bytes = 200 << 10;  // a larger growth or shrinkage is a peak
  // A peak is kept if it differs from the last one kept by more than either
  // of these.
  std::optional<uint64_t> min_time_us;  // default: a hundredth of the run
  uint64_t min_value_bytes = 500 << 10;
};

// Whether a call is charged with more than `bytes`, in either direction.
bool IsBeyond(const EndedCall& call, uint64_t bytes);

// The peaks to show, in the order of time: peak 1 first. `calls` are in the
// order of their RETURNs. `run_us` is the length of the run.
std::vector<EndedCall> ChoosePeaks(const std::vector<EndedCall>& calls,
                                   const PeakRule& rule, uint64_t run_us);

// "18: Thread-6>main.py:44:run=>212992". Files lose `prefix` if they start with
// it. Names are as in the file: escape them before showing them.
std::string PeakLine(size_t number, const EndedCall& peak,
                     const RunIndex& index, absl::string_view prefix);
// A file name without the prefix, if it starts with it.
absl::string_view WithoutPrefix(absl::string_view file,
                                absl::string_view prefix);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_
