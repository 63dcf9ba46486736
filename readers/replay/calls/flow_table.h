// The change of RSS during each function's calls: `pymemreport calls --by
// function`.
#ifndef PYMEMRUN_READERS_REPLAY_CALLS_FLOW_TABLE_H_
#define PYMEMRUN_READERS_REPLAY_CALLS_FLOW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/place.h"
#include "readers/places/time_range.h"
#include "readers/replay/calls/call_replay.h"

namespace pymemrun {

// Sums over the calls of one function.
struct FlowTotals {
  // Modulo 2^64. Of recursive calls only the outermost one counts.
  uint64_t growth_bytes = 0;
  uint64_t own_bytes = 0;  // without the calls within it
  uint64_t thread_bytes = 0, own_thread_bytes = 0;    // by the calls' threads
  uint64_t charged_bytes = 0, own_charged_bytes = 0;  // one of these pairs
  uint64_t took_us = 0;
  uint64_t calls = 0;

  void Add(const FlowTotals& other);
};

// Not thread safe.
class FlowReplay final : public CallReplay {
 public:
  // Counts calls that ended in the range, of the files and threads that
  // `choice` keeps. `choice` must outlive it.
  FlowReplay(const CallChoice& choice, const TimeRange& range)
      : filter_(choice, &index()), range_(range) {}
  ThreadFilter* threads() { return filter_.threads(); }
  void Finish() override;

  // Functions, files or packages, most charged first (see EndedCall). Files and
  // packages have only what their functions changed themselves, as their calls
  // may be of the same file. `as_text`: has only the charged figures, instead
  // of those of the process and of threads. REQUIRES: Finish() was called.
  Table ToTable(GroupBy by, bool as_text) const;
  // Calls that did not fit; 0 if rows were paired.
  uint64_t not_kept() const { return not_kept_; }

 private:
  static constexpr size_t kMaxCalls = size_t{1} << 20;
  static constexpr uint32_t kMaxSites = 1 << 21;

  void OnEnded(const EndedCall& call) override;
  void Add(const EndedCall& call);

  CallFilter filter_;
  const TimeRange range_;
  std::vector<FlowTotals> sites_;  // by id; 0: sites that did not fit
  std::vector<EndedCall> calls_;   // not nested yet
  uint64_t not_kept_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_FLOW_TABLE_H_
