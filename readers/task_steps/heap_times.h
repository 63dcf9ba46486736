// When threads allocated, in a run with steps of tasks.
#ifndef PYMEMRUN_READERS_TASK_STEPS_HEAP_TIMES_H_
#define PYMEMRUN_READERS_TASK_STEPS_HEAP_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "readers/run/replay_visitor.h"

namespace pymemrun {

// To 128 us. Memory: 4 bytes for each such slot in which a thread allocated.
// Not thread safe.
class HeapTimes final : public ReplayVisitor {
 public:
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void Finish() override;

  // Whether the thread, by its first ThreadDef.id, may have allocated from
  // `begin_us` to `end_us`. REQUIRES: Finish() was called.
  bool Any(uint32_t thread, uint64_t begin_us, uint64_t end_us) const;

 private:
  std::vector<std::vector<uint32_t>> slots_;  // by thread
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TASK_STEPS_HEAP_TIMES_H_
