// Which calls a report is of: --thread, --file, --exclude and --own. Used by
// the reports about calls, so that a number of a peak means the same in all.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_FILTER_H_
