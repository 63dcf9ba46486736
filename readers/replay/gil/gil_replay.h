// A run's GIL events, summed up: by thread, by who waited for whom, by place.
#ifndef PYMEMRUN_READERS_REPLAY_GIL_GIL_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_GIL_GIL_REPLAY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"
#include "readers/places/time_range.h"
#include "readers/replay/gil/gil_times.h"
#include "readers/replay/gil/hold_history.h"
#include "readers/run/name_pool.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Reads the whole run. Time and memory are linear in the file. Not thread safe.
class GilReplay : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  static constexpr size_t kMostWorst = 64;
  static constexpr size_t kMostFunctions = size_t{1} << 18;
  // Who waited, and for whom; the latter may be one of these.
  using Pair = std::pair<uint32_t, uint32_t>;
  // No thread held it, or it is unknown.
  static constexpr uint32_t kHandover = 0;
  static constexpr uint32_t kForgotten = ~0u;  // more holds than are remembered

  // To be called first, if at all: only this part of the time counts, and of
  // longer waits and holds the part within it.
  void SetRange(const TimeRange& range) { range_ = range; }

  void OnGilRecording(const GilRecording& recording) override {
    has_gil_ = true;
    min_wait_ns_ = recording.min_wait_ns();
    free_threaded_ = recording.free_threaded();
  }
  void OnFunction(const FunctionDef& function) override;
  bool OnGil(const GilEvent* events, size_t count) override;
  void OnGilLoss(const GilLoss& loss) override { lost_ += loss.events(); }
  void OnFooter(const Footer& footer) override {
    end_ns_ = std::max(
        end_ns_,
        std::min<uint64_t>(footer.end_us(), kMaxGilNanos / 1000) * 1000);
  }
  void Finish() override;

  // "json.scanner.scan_once"; empty: it is not known.
  absl::string_view FunctionName(uint32_t function) const;

  // After Finish().
  bool has_gil() const { return has_gil_; }
  uint64_t min_wait_ns() const { return min_wait_ns_; }
  // The interpreter has locks instead of a GIL; and switched that on for
  // moments at most.
  bool free_threaded() const { return free_threaded_; }
  bool HasLocksAlone() const;
  const WorldStops& stops() const { return stops_; }
  uint64_t lost() const { return lost_; }
  uint64_t end_ns() const { return end_ns_; }
  const TimeRange& range() const { return range_; }
  // From the start of the range, or of the run.
  uint64_t long_ns() const {
    return end_ns_ - std::min(end_ns_, range_.begin_ns);
  }
  size_t gils() const { return gils_.size(); }
  // By their numbers.
  std::vector<GilTimes> EachGil() const;
  // By ThreadDef.id; those without `any` had no event.
  const std::vector<GilThreadTimes>& threads() const { return threads_; }
  const absl::flat_hash_map<Pair, uint64_t>& blocked_ns() const {
    return blocked_ns_;
  }
  // For how long threads waited while one was there. As stacks were recorded.
  const absl::flat_hash_map<GilPlace, uint64_t>& blocked_by_place() const {
    return blocked_by_place_;
  }
  const std::vector<GilWait>& worst() const { return worst_; }  // longest first

 protected:
  // Called at the end of each hold and each wait. Threads are their first
  // ThreadDef.ids.
  virtual void OnHold(const GilSpan& hold) {}
  virtual void OnWait(uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                      GilWaitKind kind) {}
  // Called after OnWait(), once for each part of that wait; the parts add up to
  // it. `thread` is the holder, kHandover or kForgotten. `place`: where that
  // thread let go.
  virtual void OnCharge(uint32_t thread, uint32_t holder, const GilPlace& place,
                        uint64_t ns) {}
  // Where the thread was in its wait that begins, or ends, at that time.
  virtual void OnWaiterStack(uint32_t thread, uint64_t time_ns,
                             uint32_t stack) {}

 private:
  struct Gil {
    GilSpan now;  // the latest to take it; thread 0: none yet
    bool is_held = false;
    uint64_t held_ns = 0;   // of `now`, as far as it was counted
    uint64_t pauses = 0;    // likewise
    uint64_t place_ns = 0;  // when the place of `now` was told
    HoldHistory history;
    GilTimes times;
  };
  // A wait for a lock, or for a stop, that is under way.
  struct Parked {
    GilAction why = GIL_TAKEN;  // GIL_TAKEN: none is
    uint64_t since_ns = 0;
  };

  void Take(const GilEvent& event);
  void TakeLock(const GilEvent& event, uint32_t thread);
  bool SetSpan(uint64_t begin_ns, uint64_t* end_ns, GilWait* wait) const;
  void EndPark(uint32_t thread, uint64_t end_ns, uint32_t by);
  void CountWait(const GilWait& wait);
  void CountHold(const GilEvent& event, Gil* gil);
  void Taken(const GilEvent& event, uint32_t thread, Gil* gil);
  void BeginWait(const GilEvent& event, uint32_t thread);
  void EndWait(uint32_t thread, uint64_t end_ns);
  void BeginGivingWay(const GilEvent& event, uint32_t thread, const Gil& gil);
  uint64_t Charge(const GilDoing& did, uint64_t end_ns, GilWait* wait);
  void Keep(const GilWait& wait);
  void KeepToRange();
  void AddStack(const GilEvent& event, uint32_t thread, Gil* gil);
  uint32_t Know(uint32_t thread, uint64_t time_ns);

  TimeRange range_;
  bool has_gil_ = false, free_threaded_ = false;
  uint64_t min_wait_ns_ = 0, lost_ = 0, end_ns_ = 0;
  NamePool names_{4 << 20};
  std::vector<absl::string_view> functions_;  // ids are places + 1
  absl::flat_hash_map<uint32_t, Gil> gils_;
  absl::flat_hash_set<Pair> took_;  // a GIL, and a thread that took it
  std::vector<GilThreadTimes> threads_;
  std::vector<GilDoing> doing_;
  std::vector<Parked> parked_;  // by first ThreadDef.id, as the next
  std::vector<GilLetGo> let_go_;
  WorldStops stops_;
  absl::flat_hash_map<Pair, uint64_t> blocked_ns_;
  absl::flat_hash_map<GilPlace, uint64_t> blocked_by_place_;
  std::vector<GilWait> worst_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_GIL_GIL_REPLAY_H_
