// How the program waits for its collector, at the beginning and at the end: not
// for one that is gone or stuck.
#ifndef PYMEMRUN_TRACER_SESSION_COLLECTOR_WAIT_H_
#define PYMEMRUN_TRACER_SESSION_COLLECTOR_WAIT_H_

#include <sys/types.h>

#include <cstdint>

#include "tracer/base/slow_state.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

// A futex word that both processes have.
void WakeFutex(std::atomic<uint32_t>* word);

// Waits for the collector that serves `page`, process `pid`, which is not a
// child; 0: not known.
class CollectorWait {
 public:
  CollectorWait(const ControlPage* page, pid_t pid) : page_(page), pid_(pid) {}

  // Whether it is ready.
  bool UntilReady() const;

  // Whether it said within `timeout_ns` that the file is complete.
  // *still_writing: not, and it is at work all the same.
  bool UntilComplete(const RingStall& stall, uint64_t timeout_ns,
                     bool* still_writing) const;

 private:
  bool IsGone() const;

  const ControlPage* const page_;
  const pid_t pid_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_SESSION_COLLECTOR_WAIT_H_
