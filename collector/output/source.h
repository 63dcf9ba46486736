// Sources of run file records besides the event ring: page faults, the heap,
// the GIL, tasks, thread states. CollectorProcess has a list of them.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_SOURCE_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// Methods are called in the order below. Each one is called for all sources, in
// the order of the list, before the next one. Times are CLOCK_MONOTONIC in
// nanoseconds. Not thread-safe: CollectorProcess calls from its one thread.
class Source {
 public:
  virtual ~Source() = default;

  // Called repeatedly until tracing starts: keeps events in memory, within
  // limits. Nothing can be written yet.
  virtual void Keep(uint64_t /*now_ns*/) {}
  // The header is written, and the run started at `start_ns`. Writes how this
  // source records, but no events.
  virtual void Describe(uint64_t /*start_ns*/) {}
  // From now on everything may be written.
  virtual void Start() {}

  // Takes new events and returns their number; after many, the next nap is
  // short. The event ring was drained up to its end at `looked_ns`.
  virtual size_t Round(uint64_t /*looked_ns*/) { return 0; }
  // Longest nap before the next round, in microseconds.
  virtual uint32_t longest_nap_us() const { return UINT32_MAX; }
  // Whether the process must be sampled now, before it is due. Asking clears
  // the wish.
  virtual bool TakeWantsSample() { return false; }
  // Writes what was collected so far, and what was lost.
  virtual void EndBatch(uint64_t /*now_ns*/) {}
  // Called at most once: the code of the program ended at `time_ns`, and the
  // process waits.
  virtual void ProgramEnded(uint64_t /*time_ns*/) {}

  // There are no more events, and the event ring is empty: writes everything
  // left. `process_lives`: the process waits after it announced its end.
  virtual void Finish(uint64_t /*now_ns*/, bool /*process_lives*/) {}
  virtual void AddToFooter(Footer* /*footer*/) const {}
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_SOURCE_H_
