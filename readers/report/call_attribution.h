// --thread-attribution of the reports about calls.
#ifndef PYMEMRUN_READERS_REPORT_CALL_ATTRIBUTION_H_
#define PYMEMRUN_READERS_REPORT_CALL_ATTRIBUTION_H_

#include <memory>
#include <optional>

#include "CLI/CLI.hpp"
#include "readers/replay/calls/call_replay.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/replay/threads/thread_drss.h"
#include "readers/report/run_needs.h"
#include "readers/run/console.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

// Whose growth a call's is: that of its thread, where page faults tell it, or
// that of the process meanwhile. Not thread safe.
class CallAttribution {
 public:
  void Add(CLI::App* app, RunNeeds* needs);
  // Reads what threads did, where the run tells.
  void Read(RereadFile* file) { threads_ = ThreadDrss::Read(file); }
  // REQUIRES: Read() was called, and *this outlives the replay's reading.
  void Give(CallReplay* replay) const {
    replay->SetThreads(threads_.get(), by_thread());
  }
  // After a reading: says where what other threads did counts, too.
  void SayWhatCounts(const CallReplay& replay, const RereadFile& file,
                     const Console& console) const;
  bool by_thread() const { return threads_ != nullptr && !is_observed(); }
  // The view by events was asked for.
  bool is_observed() const { return given_ == Attribution::kObserved; }

 private:
  std::optional<Attribution> given_;
  std::unique_ptr<ThreadDrss> threads_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPORT_CALL_ATTRIBUTION_H_
