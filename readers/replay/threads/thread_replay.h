// What each thread did to RSS: which pages came by its faults and calls, and
// which left by its calls, whether it held the GIL or not.
//
// Only what came after tracing began counts. What the kernel took back by
// itself, and pages whose coming nobody saw, are no thread's: see
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

struct ThreadTotals {
  uint64_t growth_bytes = 0;
  uint64_t shrinkage_bytes = 0;
  uint64_t peak_bytes = 0;  // at the peak of RSS, of what it touched first
  double peak_variance = 0;
  uint64_t rows = 0;
  uint64_t first_us = 0, last_us = 0;  // when it was seen
  // Of the own line that brought most. Where that has no code, of the one that
  // gave back most, if that is more. 0: none.
  uint32_t top_stack = 0;
  bool is_python = false;  // it had an event, or a stack, of Python's

  int64_t net_bytes() const {
    return static_cast<int64_t>(growth_bytes - shrinkage_bytes);
  }
  // Of all but the top line.
  void Add(const ThreadTotals& other);
};

// Not thread safe.
class ThreadReplay final : public ResidentReplay {
 public:
  ThreadReplay(uint64_t peak_us, Hindsight hindsight)
      : ResidentReplay(kEnd, std::move(hindsight)), peak_us_(peak_us) {}

  // To be called first, if at all: what came and went at other times does not
  // count, except for the peak.
  void KeepRange(const TimeRange& range) { range_ = range; }
  void OnThread(const ThreadDef& thread) override;
  bool OnRows(const Row* rows, size_t count) override;
  HeapUse heap_use() const override { return HeapUse::kEvents; }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  void Finish() override;

  // By id. Index 0 is of what no thread did. What a renamed thread did stands
  // at its last id, and those before have nothing. REQUIRES: Finish() was
  // called.
  const std::vector<ThreadTotals>& threads() const { return threads_; }
  // What a thread brought at a stack, and gave back there; of one task, where
  // tasks are told apart.
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
  // Somebody saw which thread brought pages.
  bool KnowsPages() const { return has_page_events() && !by_scan(); }
  // What RSS changed by in the range, or since tracing began, as far as it was
  // read, less what the threads did.
  int64_t unattributed_bytes() const;

 private:
  // What stacks of threads beyond so many did stands at no stack, and no task.
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
  std::optional<uint64_t> begin_rss_bytes_, end_rss_bytes_;  // of the range
  std::vector<ThreadTotals> threads_ = {{}};
  // By thread, stack and task.
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint32_t>, Bytes> changes_;
};

// How far sums over the pages of each thread may be wrong.

// Variances of what each thread touched first of the pages that are there, in
// bytes, by ThreadDef.id. Those beyond the end, or all, are 0: no pages of
// theirs were sampled. A page whose stack was inferred is its thread's in any
// case.
std::vector<double> VariancesByThread(const ResidentModel& model);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_REPLAY_H_
