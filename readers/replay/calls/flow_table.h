// What each function's calls changed RSS by: `pymemreport calls --by function`.
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

struct FlowTotals {
  // Modulo 2^64. A recursive call counts with the outermost one.
  uint64_t growth_bytes = 0;
  uint64_t own_bytes = 0;                             // without the calls in it
  uint64_t thread_bytes = 0, own_thread_bytes = 0;    // of the calls' threads
  uint64_t charged_bytes = 0, own_charged_bytes = 0;  // one of these pairs
  uint64_t took_us = 0;
  uint64_t calls = 0;

  void Add(const FlowTotals& other);
};

// Not thread safe.
class FlowReplay final : public CallReplay {
 public:
  // Without functions of other files, and calls of other threads, than are
  // wanted. Calls count that ended in the range. `choice` must outlive it.
  FlowReplay(const CallChoice& choice, const TimeRange& range)
      : filter_(choice, &index()), range_(range) {}
  ThreadFilter* threads() { return filter_.threads(); }
  void Finish() override;

  // Functions, files or packages, most charged first (see EndedCall). Of files
  // and packages with what is their functions' own alone: what these called may
  // be of the same. `as_text`: with what is charged alone, instead of the
  // process's growth and the threads'. REQUIRES: Finish() was called.
  Table ToTable(GroupBy by, bool as_text) const;
  // Calls that found no room: only where rows do not tell.
  uint64_t not_kept() const { return not_kept_; }

 private:
  static constexpr size_t kMaxCalls = size_t{1} << 20;
  static constexpr uint32_t kMaxSites = 1 << 21;

  void OnEnded(const EndedCall& call) override;
  void Add(const EndedCall& call);

  CallFilter filter_;
  const TimeRange range_;
  std::vector<FlowTotals> sites_;  // by id; 0: of those beyond
  std::vector<EndedCall> calls_;   // yet to be nested
  uint64_t not_kept_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_CALLS_FLOW_TABLE_H_
