// What each function's calls changed RSS by: `pymemreport flow`.
#ifndef PYMEMRUN_READERS_CALLS_FLOW_TABLE_H_
#define PYMEMRUN_READERS_CALLS_FLOW_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/calls/call_replay.h"
#include "readers/output/table.h"

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
  // wanted. `choice` must outlive it.
  explicit FlowReplay(const CallChoice& choice) : filter_(choice, &index()) {}
  ThreadFilter* threads() { return filter_.threads(); }
  void Finish() override;

  // The functions, most charged first (see EndedCall), at most `limit` of them
  // (0: all). `as_text`: with what is charged alone, instead of the process's
  // growth and the threads'. REQUIRES: Finish() was called.
  Table ToTable(uint64_t limit, bool as_text) const;
  // Calls that found no room: only where rows do not tell.
  uint64_t not_kept() const { return not_kept_; }

 private:
  static constexpr size_t kMaxCalls = size_t{1} << 20;
  static constexpr uint32_t kMaxSites = 1 << 21;

  void OnEnded(const EndedCall& call) override;
  void Add(const EndedCall& call);

  CallFilter filter_;
  std::vector<FlowTotals> sites_;  // by id; 0: of those beyond
  std::vector<EndedCall> calls_;   // yet to be nested
  uint64_t not_kept_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_CALLS_FLOW_TABLE_H_
