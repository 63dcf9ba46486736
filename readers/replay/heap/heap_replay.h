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

// A moment at which HeapMoments stops.

// The most live bytes, the run's last moment, so many microseconds since the
// start, or after so many heap events.
struct HeapMoment {
  enum Kind { kPeak, kEnd, kTime, kEvents };
  Kind kind = kPeak;
  uint64_t time_us = 0;  // kTime, kEvents
  uint64_t events = 0;   // kEvents
  // What people call it; empty: no more than a time.
  std::string name = {};
  // What the reading that found it tells of libraries' threads; or null.
  std::shared_ptr<const LibraryWaits> waits = {};
};

// What is to be done at moments of a reading. Not thread safe.
class MomentLooks {
 public:
  void Add(uint64_t time_us, std::function<void()> look) {
    looks_.push_back({time_us, std::move(look)});
    std::stable_sort(
        looks_.begin(), looks_.end(),
        [](const Look& a, const Look& b) { return a.time_us > b.time_us; });
  }
  bool empty() const { return looks_.empty(); }
  // When the next one is; of none the greatest number.
  uint64_t next_us() const {
    return empty() ? std::numeric_limits<uint64_t>::max()
                   : looks_.back().time_us;
  }
  // Does all up to that moment.
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

// What stands for what C code has mapped, where no page events tell of it.
inline constexpr char kReserved[] = "<reserved, not known to be touched>";

// Not thread safe.
class HeapReplay : public ReplayVisitor {
 public:
  // Stops at `first_stop_us` first. Reads to the run's end, or only until there
  // is no further stop.
  explicit HeapReplay(uint64_t first_stop_us = kEnd, bool to_end = true)
      : next_stop_us_(first_stop_us), to_end_(to_end) {}

  void OnHeader(const Header& header) override;
  void OnCode(const CodeDef& code) override;
  void OnStack(const StackDef& node) override;
  void OnMapping(const MappingDef& def) override;
  bool OnRows(const Row*, size_t) override { return !done_; }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  bool wants_inherited() const override { return inherits_; }
  // Without what a forked process began with: as its pages tell, that was there
  // before tracing.
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

  // Calls `look` once all up to `time_us` (kEnd: the end) is in the model, and
  // reads as far. Before reading.
  void LookAt(uint64_t time_us, std::function<void()> look) {
    looks_.Add(time_us, std::move(look));
  }

  const HeapModel& model() const { return model_; }
  const Header& header() const { return header_; }
  void KnowWaits(std::shared_ptr<const LibraryWaits> waits) {
    model_.KnowWaits(WaitCursor(std::move(waits)));
  }
  // By these, which must outlive it. Before reading. `let_go`: see HeapSources.
  void TellTasksApart(const TaskStepsReader* tasks, bool with_stacks = false,
                      HeapSources::LetGo let_go = nullptr);
  void TellTasksApartAs(const HeapReplay& other);  // of the same file
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
  uint64_t last_us() const { return last_us_; }  // as far as it was read
  uint64_t lost_events() const { return lost_events_; }
  // As it was read last before that moment, or else first; 0: it was not read.
  uint64_t RssNear(uint64_t time_us) const;

 protected:
  // Everything up to `stop_us`, it included, is in the model. Returns the next
  // stop, which is later, or kEnd. Stops behind the run's end do not come.
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

// What was alive at one or two moments.
class HeapMoments final : public HeapReplay {
 public:
  // Reads `to_end` of the run, or only as far as is needed. REQUIRES: one or
  // two moments; one, if it is kEvents.
  explicit HeapMoments(std::vector<HeapMoment> moments, bool to_end = false);
  void CountTemporary(uint32_t limit) { mutable_model().CountTemporary(limit); }
  bool OnHeap(const HeapEvent* events, size_t count) override;

  // By source, which may be fewer than all: the others had nothing. REQUIRES:
  // Finish() was called.
  std::vector<HeapSums> SumsAt(size_t moment) const;
  // When it was; a moment after the end is the end.
  uint64_t TimeOf(size_t moment) const;
  const HeapMoment& moment(size_t i) const { return moments_[i]; }

 private:
  uint64_t OnStop(uint64_t stop_us) override;

  const std::vector<HeapMoment> moments_;
  const std::vector<uint64_t> stops_us_;
  std::vector<std::vector<HeapSums>> sums_;  // at each stop that came
  uint64_t events_left_;                     // of kEvents
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_HEAP_REPLAY_H_
