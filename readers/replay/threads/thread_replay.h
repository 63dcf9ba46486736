// The change of RSS by each thread: pages that came by its faults and calls,
// and pages that its calls released, with the GIL or without.
//
// Counts only what came after tracing started. What the kernel reclaimed by
// itself, and pages without a recorded fault, are charged to no thread: see
// unattributed_bytes().
#ifndef PYMEMRUN_READERS_REPLAY_THREADS_THREAD_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_THREADS_THREAD_REPLAY_H_

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "readers/places/time_range.h"
#include "readers/replay/resident/resident_model.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// Sums of one thread. Bytes count pages by their weight.
struct ThreadTotals {
  uint64_t growth_bytes = 0;
  uint64_t shrinkage_bytes = 0;
  uint64_t peak_bytes = 0;  // at the peak of RSS: the pages it touched first
  double peak_variance = 0;
  uint64_t rows = 0;
  uint64_t first_us = 0, last_us = 0;  // when it was first and last seen
  // The own line that added most. If that has no code, the one that released
  // most, if that is more. 0: none.
  uint32_t top_stack = 0;
  bool is_python = false;  // a Python event or stack of it was seen

  int64_t net_bytes() const {
    return static_cast<int64_t>(growth_bytes - shrinkage_bytes);
  }
  // Adds all but the top line.
  void Add(const ThreadTotals& other);
};

// Not thread safe.
class ThreadReplay final : public ResidentReplay {
 public:
  ThreadReplay(uint64_t peak_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)), peak_us_(peak_us) {}

  // Counts only changes within the range, except for the peak. To be called
  // first, if at all.
  void KeepRange(const TimeRange& range) { range_ = range; }
  void OnThread(const ThreadDef& thread) override;
  bool OnRows(const Row* rows, size_t count) override;
  HeapUse heap_use() const override { return HeapUse::kEvents; }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void Finish() override;

  // By id. Index 0 is for changes by no thread. A renamed thread has all its
  // changes at its last id, and none at earlier ids. REQUIRES: Finish() was
  // called.
  const std::vector<ThreadTotals>& threads() const { return threads_; }
  // What a thread added and released at a stack; by task, if tasks are told
  // apart.
  struct Change {
    uint32_t thread, stack, task;  // the thread's last id
    uint64_t growth_bytes, shrinkage_bytes;
  };
  template <typename Visit>
  void ForEachChange(const Visit& visit) const {
    for (const auto& [key, bytes] : changes_) {
      const auto [thread, stack, task] = key;
      visit(Change{index().LatestThread(thread), stack, task, bytes.growth,
                   bytes.shrinkage});
    }
  }
  // Page faults were recorded with their threads.
  bool KnowsPages() const { return has_page_events() && !by_scan(); }
  // The change of RSS in the range, or since tracing started, up to the last
  // event read, minus what the threads changed.
  int64_t unattributed_bytes() const;

 private:
  // Changes of further stacks count at stack 0 and task 0.
  static constexpr size_t kMaxStacks = size_t{1} << 20;
  struct Bytes {
    uint64_t growth = 0, shrinkage = 0;
  };

  void OnTime(uint64_t time_us) override;
  void OnChanged(const PageOwner& by, int64_t bytes) override;
  ThreadTotals* Of(uint32_t thread);
  void See(uint32_t thread, uint64_t time_us);
  void SeeStack(uint32_t thread, uint32_t stack);
  void TakePeak();
  void FoldRenamed();
  void FindTopLines();

  const uint64_t peak_us_;
  bool has_peak_ = false;
  TimeRange range_;
  // At the ends of the range.
  std::optional<uint64_t> begin_rss_bytes_, end_rss_bytes_;
  std::vector<ThreadTotals> threads_ = {{}};
  // By thread, stack and task.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, Bytes> changes_;
};

// Variances, in squared bytes, of the resident pages that each thread touched
// first, by ThreadDef.id. Threads beyond the end of the result, or all of them,
// have 0: none of their pages were sampled. A page with an inferred stack
// certainly belongs to its thread.
std::vector<double> VariancesByThread(const ResidentModel& model);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_REPLAY_H_
