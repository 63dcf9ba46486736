// What each thread did to RSS: which pages came by its faults and calls, and
// which left by its calls, whether it held the GIL or not.
//
// Only what came after tracing began counts. What the kernel took back by
// itself, and pages whose coming nobody saw, are no thread's: see
// unattributed_bytes().
#ifndef PYMEMRUN_READERS_THREADS_THREAD_REPLAY_H_
#define PYMEMRUN_READERS_THREADS_THREAD_REPLAY_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/resident/resident_replay.h"

namespace pymemrun {

struct ThreadTotals {
  uint64_t growth_bytes = 0;
  uint64_t shrinkage_bytes = 0;
  uint64_t peak_bytes = 0;  // at the peak of RSS, of what it touched first
  uint64_t rows = 0;
  uint64_t first_us = 0, last_us = 0;  // when it was seen
  uint32_t top_stack = 0;  // of the own line that brought most; 0: none
  uint64_t top_bytes = 0;

  int64_t net_bytes() const {
    return static_cast<int64_t>(growth_bytes - shrinkage_bytes);
  }
};

// Not thread safe.
class ThreadReplay final : public ResidentReplay {
 public:
  ThreadReplay(uint64_t peak_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)), peak_us_(peak_us) {}

  void OnThread(const ThreadDef& thread) override;
  bool OnRows(const Row* rows, size_t count) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void Finish() override;

  // By id. Index 0 is of what no thread did. REQUIRES: Finish() was called.
  const std::vector<ThreadTotals>& threads() const { return threads_; }
  // What RSS changed by since tracing began, as far as it was read, less what
  // the threads did.
  int64_t unattributed_bytes() const;

 private:
  // Stacks of threads beyond so many have no top line.
  static constexpr size_t kMaxStacks = size_t{1} << 20;

  void OnTime(uint64_t time_us) override;
  void OnChanged(uint32_t thread, uint32_t stack, int64_t bytes) override;
  ThreadTotals* Of(uint32_t thread);
  void See(uint32_t thread, uint64_t time_us);
  void TakePeak();
  void FindTopLines();

  const uint64_t peak_us_;
  bool has_peak_ = false;
  std::vector<ThreadTotals> threads_ = {{}};
  // Bytes that came, by thread and stack.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint64_t> came_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_THREADS_THREAD_REPLAY_H_
