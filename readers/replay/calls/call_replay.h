// Reads the calls that have ended from a run.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_CALL_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_CALL_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/output/table.h"
#include "readers/replay/calls/call_filter.h"
#include "readers/replay/calls/call_pairing.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Calls OnEnded() for each call of a run. Not thread safe.
class CallReplay : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  void OnHeader(const Header& header) override;
  void OnCode(const CodeDef& code) override;
  void OnFunction(const FunctionDef& function) override;
  void OnSite(const SiteDef& site) override;
  bool OnRows(const Row* rows, size_t count) override;
  void OnPause(const Pause&) override { pairing_.Forget(); }
  void OnProfilerGap(const ProfilerGap&) override { pairing_.Forget(); }
  void OnLoss(const Loss&) override { pairing_.Forget(); }
  void OnDamage(const StreamReader::Damage& damage) override;
  void Finish() override {}

  // Adds the changes by threads to calls; null: they are unknown. `threads`
  // must outlive the reading. `charges_thread`: EndedCall.charged_bytes is the
  // thread's change.
  void SetThreads(const ThreadDrss* threads, bool charges_thread) {
    knows_threads_ = threads != nullptr;
    pairing_.SetThreads(threads, charges_thread && knows_threads_);
  }
  // A thread's bytes for a table; empty if they are unknown.
  Cell ThreadCell(int64_t bytes) const {
    return knows_threads_ ? Cell(bytes) : Cell();
  }
  // Whether calls can be found in such a run.
  static bool MayKnow(const Header& header);
  // Whether any call was found.
  bool any() const { return any_; }
  // The number of threads that ended calls; 2 means two or more.
  int threads_seen() const { return threads_seen_; }
  // WhyNone(): why no call was found, and what to record. Missing(): what is
  // missing. Empty: nothing is.
  std::string WhyNone() const;
  std::string Missing() const;
  bool pairs_rows() const { return pairing_.pairs_rows(); }
  // Seconds since 1970, for a moment of the run; a table's cell.
  Cell UnixCell(uint64_t time_us) const {
    if (start_unix_us_ == 0) return Cell();
    return static_cast<double>(start_unix_us_ + time_us) * 1e-6;
  }
  // Whether an event of this kind ends a call.
  bool Ends(What what) const { return pairing_.Ends(what); }
  // From the first row to the last one.
  uint64_t run_us() const { return last_us_ - first_us_; }

 protected:
  // Called in the order of the RETURNs.
  virtual void OnEnded(const EndedCall& call) = 0;

 private:
  CallPairing pairing_;
  uint64_t min_bytes_ = 0;  // --min-call-drss
  // The filters, other than those of RSS, that left out rows.
  std::string left_out_;
  bool lacks_kinds_ = false;  // --events left out what starts or ends calls
  uint64_t start_unix_us_ = 0;
  bool calls_off_ = false;
  bool any_ = false, any_row_ = false, knows_threads_ = false;
  int threads_seen_ = 0;
  // The first thread that ended a call, see FirstThread().
  uint32_t first_thread_ = 0;
  uint64_t first_us_ = 0, last_us_ = 0;
};

// Finds the calls that are peaks. Not thread safe.
class PeakReplay final : public CallReplay {
 public:
  // The most calls that may be peaks.
  static constexpr size_t kMaxCalls = size_t{1} << 20;

  // `choice` must outlive it.
  PeakReplay(const PeakRule& rule, const CallChoice& choice)
      : rule_(rule), filter_(choice, &index()) {}
  // See ChoosePeaks(). Only the first kMaxCalls calls beyond PeakRule.min_bytes
  // are considered. REQUIRES: the run was read.
  std::vector<EndedCall> Peaks();
  ThreadFilter* threads() { return filter_.threads(); }

 private:
  void OnEnded(const EndedCall& call) override;

  const PeakRule rule_;
  CallFilter filter_;
  std::vector<EndedCall> calls_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_CALL_REPLAY_H_
