// Reads the calls that have ended from a run.
#ifndef PYMEMRUN_READERS_CALLS_CALL_REPLAY_H_
#define PYMEMRUN_READERS_CALLS_CALL_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/calls/call_pairing.h"
#include "readers/calls/ended_call.h"
#include "readers/calls/peak_choice.h"
#include "readers/output/table.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Not thread safe.
class CallReplay : public ReplayVisitor {
 public:
  void OnHeader(const Header& header) override;
  void OnCode(const CodeDef& code) override;
  void OnFunction(const FunctionDef& function) override;
  bool OnRows(const Row* rows, size_t count) override;
  void OnPause(const Pause&) override { pairing_.Forget(); }
  void OnProfilerGap(const ProfilerGap&) override { pairing_.Forget(); }
  void OnDamage(const StreamReader::Damage& damage) override;
  void Finish() override {}

  // Where it is known what threads did, calls say it, too; null: it is not. It
  // must outlive the reading. `charges_thread`: EndedCall.charged_bytes is
  // that.
  void SetThreads(const ThreadDrss* threads, bool charges_thread) {
    knows_threads_ = threads != nullptr;
    pairing_.SetThreads(threads, charges_thread && knows_threads_);
  }
  // Of a call, for a table.
  Cell ThreadCell(int64_t bytes) const {
    return knows_threads_ ? Cell(bytes) : Cell();
  }
  // Whether calls can be known in such a run.
  static bool MayKnow(const Header& header);
  // Whether any call is known at all.
  bool any() const { return any_; }
  // How many threads ended calls; 2 stands for more, too.
  int threads_seen() const { return threads_seen_; }
  // Why none is, or what is missing. Empty: nothing is.
  std::string WhyNone() const;
  std::string Missing() const;
  bool pairs_rows() const { return pairing_.pairs_rows(); }
  // From the first row to the last.
  uint64_t run_us() const { return last_us_ - first_us_; }

 protected:
  // In the order of the RETURNs.
  virtual void OnEnded(const EndedCall& call) = 0;

 private:
  CallPairing pairing_;
  uint64_t min_bytes_ = 0;  // --min-call-drss
  bool chosen_ = false;     // by other filters than those of RSS
  bool any_ = false, any_row_ = false, knows_threads_ = false;
  int threads_seen_ = 0;
  uint32_t first_thread_ = 0;  // that ended a call, see FirstThread()
  uint64_t first_us_ = 0, last_us_ = 0;
};

// Finds the peaks. Not thread safe.
class PeakReplay final : public CallReplay {
 public:
  static constexpr size_t kMaxCalls = size_t{1} << 20;

  explicit PeakReplay(const PeakRule& rule) : rule_(rule) {}
  // Those of the first kMaxCalls calls that are beyond PeakRule.min_bytes; see
  // ChoosePeaks.
  std::vector<EndedCall> Peaks() const {
    return ChoosePeaks(calls_, rule_, run_us());
  }

 private:
  void OnEnded(const EndedCall& call) override;

  const PeakRule rule_;
  std::vector<EndedCall> calls_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CALLS_CALL_REPLAY_H_
