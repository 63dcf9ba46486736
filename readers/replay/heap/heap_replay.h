// Reads a run file's heap events into a HeapModel, and stops at moments.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_HEAP_REPLAY_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_HEAP_REPLAY_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "readers/places/place.h"
#include "readers/replay/current_task/task_steps_reader.h"
#include "readers/replay/heap/heap_model.h"
#include "readers/replay/library_waits/library_waits.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// A moment at which HeapMoments stops: the peak of live bytes, the run's end, a
// time since the start, or the moment after a number of heap events.
struct HeapMoment {
  enum Kind { kPeak, kEnd, kTime, kEvents };
  Kind kind = kPeak;
  uint64_t time_us = 0;  // kTime, kEvents
  uint64_t events = 0;   // kEvents: their number
  // A name for people; empty: the time is all there is to say.
  std::string name = {};
  // What an earlier reading knows of libraries' threads, or null.
  std::shared_ptr<const LibraryWaits> waits = {};
};

// What to do at certain moments of a reading. Not thread safe.
class MomentLooks {
 public:
  void Add(uint64_t time_us, std::function<void()> look) {
    looks_.push_back({time_us, std::move(look)});
    std::stable_sort(
        looks_.begin(), looks_.end(),
        [](const Look& a, const Look& b) { return a.time_us > b.time_us; });
  }
  bool empty() const { return looks_.empty(); }
  // When the next look is due; the largest number if no look is left.
  uint64_t next_us() const {
    return empty() ? std::numeric_limits<uint64_t>::max()
                   : looks_.back().time_us;
  }
  // Makes all looks that are due by then, in the order of their times.
  void DoUntil(uint64_t time_us) {
    for (; !empty() && next_us() <= time_us; looks_.pop_back()) {
      looks_.back().look();
    }
  }

 private:
  struct Look {
    uint64_t time_us;
    std::function<void()> look;
  };
  std::vector<Look> looks_;  // the next one last
};

// The name of C code's mappings where no page events show which part is
// resident.
inline constexpr char kReserved[] = "<reserved, not known to be touched>";

// Reads a run's heap events into a HeapModel, and stops at moments. Not thread
// safe.
class HeapReplay : public ReplayVisitor {
 public:
  // Stops at `first_stop_us` first. `to_end`: reads to the run's end, even
  // after the last stop.
  explicit HeapReplay(uint64_t first_stop_us = kEnd, bool to_end = true)
      : next_stop_us_(first_stop_us), to_end_(to_end) {}

  void OnHeader(const Header& header) override;
  void OnCode(const CodeDef& code) override;
  void OnStack(const StackDef& node) override;
  void OnMapping(const MappingDef& def) override;
  bool OnRows(const Row*, size_t) override { return !done_; }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  bool wants_inherited() const override { return inherits_; }
  // Ignores blocks inherited from the parent process; page events count them as
  // "before tracing". To be called before reading.
  void BeginWithNothing() { inherits_ = false; }
  void Inherit(const HeapEvent* events, size_t count) override {
    model_.Add(events, count);
  }
  void OnInherited() override;
  void OnHeapRates(const HeapRates& rates) override;
  void OnHeapLoss(const HeapLoss& loss) override;
  void OnProcess(const ProcessSample& sample) override;
  void OnFooter(const Footer& footer) override;
  void Finish() override;

  // Calls `look` once everything up to `time_us` is in the model (kEnd: the
  // end), and reads at least that far. To be called before reading.
  void LookAt(uint64_t time_us, std::function<void()> look) {
    looks_.Add(time_us, std::move(look));
  }

  const HeapModel& model() const { return model_; }
  const Header& header() const { return header_; }
  void KnowWaits(std::shared_ptr<const LibraryWaits> waits) {
    model_.KnowWaits(WaitCursor(std::move(waits)));
  }
  // Splits sources by these tasks' steps, which must outlive it. To be called
  // before reading. `let_go`: see HeapSources.
  void TellTasksApart(const TaskStepsReader* tasks, bool with_stacks = false,
                      HeapSources::LetGo let_go = nullptr);
  // `other` reads the same file
  void TellTasksApartAs(const HeapReplay& other);
  absl::string_view TaskLabel(uint32_t task) const;
  // The run was made with heap events.
  bool has_heap_events() const { return has_heap_events_; }
  // Not every allocation was recorded.
  bool sampled() const {
    return rate_changes_ > 0 || model_.rate() != 0 ||
           header_.heap() == HEAP_SAMPLED;
  }
  const HeapRates& rates() const { return rates_; }  // the latest
  uint64_t rate_changes() const { return rate_changes_; }
  const HeapUnseen& unseen() const { return unseen_; }
  // The last moment that was read.
  uint64_t last_us() const { return last_us_; }
  uint64_t lost_events() const { return lost_events_; }
  // RSS in bytes, at the last reading before that moment, or else at the first
  // one. 0: it was never read.
  uint64_t RssNear(uint64_t time_us) const;

 protected:
  // Called once everything up to and including `stop_us` is in the model.
  // Returns the next stop, which must be later, or kEnd. Stops after the run's
  // end are not made.
  virtual uint64_t OnStop(uint64_t stop_us) { return kEnd; }
  HeapModel& mutable_model() { return model_; }
  void EndAt(uint64_t time_us) {
    done_ = true;
    last_us_ = time_us;
  }

 private:
  struct RssAt {
    uint64_t time_us, bytes;
  };
  static constexpr size_t kMostRss = 1 << 20;

  uint64_t NextStop() const {
    return std::min(next_stop_us_, looks_.next_us());
  }
  void StopsBefore(uint64_t time_us);

  uint64_t next_stop_us_;
  MomentLooks looks_;
  const bool to_end_;
  HeapModel model_;
  Header header_;
  HeapRates rates_;
  HeapUnseen unseen_;
  uint32_t tracing_code_ = 0;
  uint64_t last_us_ = 0, lost_events_ = 0, rate_changes_ = 0;
  std::vector<RssAt> rss_;  // in the order of the file
  bool has_heap_events_ = false, has_rates_ = false;
  bool inherits_ = true, with_stacks_ = false;
  bool done_ = false;
  const TaskStepsReader* tasks_ = nullptr;
  HeapSources::LetGo let_go_;
};

// What was alive at one or two moments. Not thread safe.
class HeapMoments final : public HeapReplay {
 public:
  // Reads the whole run if `to_end`, else only as far as is needed. REQUIRES:
  // one or two moments; only one if it is of kind kEvents.
  explicit HeapMoments(std::vector<HeapMoment> moments, bool to_end = false);
  void CountTemporary(uint32_t limit) { mutable_model().CountTemporary(limit); }
  bool OnHeap(const HeapEvent* events, size_t count) override;

  // Sums by source. It may be shorter than sources(): the rest had nothing
  // alive. REQUIRES: Finish() was called.
  std::vector<HeapSums> SumsAt(size_t moment) const;
  // The moment's time; a moment after the end is the end.
  uint64_t TimeOf(size_t moment) const;
  const HeapMoment& moment(size_t i) const { return moments_[i]; }

 private:
  uint64_t OnStop(uint64_t stop_us) override;

  const std::vector<HeapMoment> moments_;
  const std::vector<uint64_t> stops_us_;
  std::vector<std::vector<HeapSums>> sums_;  // at each stop that was made
  uint64_t events_left_;                     // until the stop of kEvents
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_REPLAY_H_
