// What fills the run file besides the event ring: page faults, the heap, the
// GIL, tasks, states of threads. CollectorProcess has a list of them.
#ifndef PYMEMRUN_COLLECTOR_OUTPUT_SOURCE_H_
#define PYMEMRUN_COLLECTOR_OUTPUT_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "format/trace.pb.h"

namespace pymemrun {

// The calls come in the order of the methods below. Each method is called for
// all sources, in the order of the list, before the next method is. All times
// are CLOCK_MONOTONIC. Not thread safe: CollectorProcess calls from its one
// thread.
class Source {
 public:
  virtual ~Source() = default;

  // Time and again until tracing begins: takes what has come into memory,
  // within bounds. Nothing can be written yet.
  virtual void Keep(uint64_t /*now_ns*/) {}
  // The header is written, and the run began at `start_ns`. Writes how this
  // source records, and nothing that it recorded.
  virtual void Describe(uint64_t /*start_ns*/) {}
  // Everything may be written from here on.
  virtual void Start() {}

  // Takes what has come, and returns how much that was: many make the next nap
  // short. The event ring was emptied of what was there at `looked_ns`.
  virtual size_t Round(uint64_t /*looked_ns*/) { return 0; }
  // The longest nap until the next round.
  virtual uint32_t longest_nap_us() const { return UINT32_MAX; }
  // Whether the process is to be sampled now, before it is due. Asking takes
  // the wish back.
  virtual bool TakeWantsSample() { return false; }
  // Writes what was gathered so far, and what was lost.
  virtual void EndBatch(uint64_t /*now_ns*/) {}
  // Once at most: the program's own code has ended at `time_ns`, and waits.
  virtual void ProgramEnded(uint64_t /*time_ns*/) {}

  // Nothing more comes, and the event ring is empty: writes all that is left.
  // `process_lives`: it waits after it has said its end.
  virtual void Finish(uint64_t /*now_ns*/, bool /*process_lives*/) {}
  virtual void AddToFooter(Footer* /*footer*/) const {}
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_OUTPUT_SOURCE_H_
