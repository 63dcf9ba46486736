// What tasks of asyncio did: a track for each of those that ran most, beside
// the thread that ran it. The others of a thread share one.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/lanes/track_source.h"
#include "readers/lanes/track_threads.h"
#include "readers/task_steps/task_names.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// So many have tracks of their own.
constexpr size_t kMostTracks = 100;

struct Step {
  uint64_t begin_us, end_us;
  uint32_t thread, task;
  int64_t growth_bytes;
  bool is_cut;
};

// Memory: 40 bytes for each step. Not thread safe.
class TaskTracks final : public ReplayVisitor {
 public:
  TaskTracks(uint64_t min_us, TrackSink* sink)
      : min_us_(min_us), sink_(*sink), threads_(&index(), sink) {}

  void OnTask(const TaskDef& task) override { names_.Add(task, index()); }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      if (events[i].is_step()) Take(events[i]);
    }
    return true;
  }
  void Finish() override;

  uint64_t given() const { return steps_.size(); }
  uint64_t too_short() const { return too_short_; }

 private:
  void Take(const TaskEvent& event);
  void FindMost();
  uint32_t LaneOf(const Step& step);
  void Give(uint32_t lane, const std::vector<const Step*>& steps);

  const uint64_t min_us_;
  TrackSink& sink_;
  TrackThreads threads_;
  TaskNames names_;
  std::vector<Step> steps_;
  absl::flat_hash_map<uint32_t, uint64_t> ran_us_;  // by task
  absl::flat_hash_map<uint32_t, uint32_t> lanes_;   // of tasks, 0: none yet
  absl::flat_hash_map<uint32_t, uint32_t> shared_;  // by thread
  absl::flat_hash_map<uint32_t, uint32_t> slices_;  // names, by task
  uint64_t too_short_ = 0;
};

void TaskTracks::Take(const TaskEvent& event) {
  const Step step = {event.begin_ns() / 1000,
                     event.time_ns / 1000,
                     index().FirstThread(event.thread),
                     event.task,
                     event.grown_bytes,
                     event.action == TASK_RUNS};
  if (step.end_us - step.begin_us < min_us_) {
    ++too_short_;
    return;
  }
  ran_us_[step.task] += step.end_us - step.begin_us;
  steps_.push_back(step);
}

void TaskTracks::FindMost() {
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto& [task, ran_us] : ran_us_) order.push_back({ran_us, task});
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  if (order.size() > kMostTracks) order.resize(kMostTracks);
  for (const auto& [ran_us, task] : order) lanes_[task] = 0;
}

uint32_t TaskTracks::LaneOf(const Step& step) {
  const auto own = lanes_.find(step.task);
  uint32_t& lane = own != lanes_.end() ? own->second : shared_[step.thread];
  if (lane == 0) {
    lane = sink_.AddLane(
        threads_.TrackOf(step.thread),
        own != lanes_.end() ? names_.Label(step.task) : "other tasks");
  }
  return lane;
}

// Slices of one track lie within one another, or apart; also those of a damaged
// file.
void TaskTracks::Give(uint32_t lane, const std::vector<const Step*>& steps) {
  std::vector<std::pair<uint64_t, SliceEnd>> open;
  const auto close_until = [&](uint64_t time_us) {
    while (!open.empty() && open.back().first <= time_us) {
      sink_.End(lane, open.back().first, open.back().second);
      open.pop_back();
    }
  };
  for (const Step* const step : steps) {
    close_until(step->begin_us);
    SliceEnd end;
    end.growth_bytes = step->growth_bytes;
    end.is_cut = step->is_cut;
    uint32_t& name = slices_[step->task];
    if (name == 0) {
      SliceName slice;
      slice.name = names_.Label(step->task);
      name = sink_.AddName(slice);
    }
    sink_.Begin(lane, step->begin_us, name);
    const uint64_t end_us =
        open.empty() ? step->end_us : std::min(step->end_us, open.back().first);
    open.push_back({end_us, end});
  }
  close_until(~uint64_t{0});
}

void TaskTracks::Finish() {
  FindMost();
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const Step& a, const Step& b) {
                     return a.begin_us != b.begin_us ? a.begin_us < b.begin_us
                                                     : a.end_us > b.end_us;
                   });
  std::vector<std::pair<uint32_t, std::vector<const Step*>>> by_lane;
  absl::flat_hash_map<uint32_t, size_t> places;
  for (const Step& step : steps_) {
    const uint32_t lane = LaneOf(step);
    const auto [place, is_new] = places.try_emplace(lane, by_lane.size());
    if (is_new) by_lane.push_back({lane, {}});
    by_lane[place->second].second.push_back(&step);
  }
  for (const auto& [lane, steps] : by_lane) Give(lane, steps);
}

class TaskSource final : public TrackSource {
 public:
  explicit TaskSource(uint64_t min_us) : min_us_(min_us) {}

  bool Give(RereadFile* file, TrackSink* sink) override {
    TaskTracks tracks(min_us_, sink);
    if (!file->Read(&tracks)) return false;
    if (tracks.too_short() > 0) {
      notes_.push_back(absl::StrCat(
          Grouped(tracks.given()), " of ",
          Counted(tracks.given() + tracks.too_short(), "step"),
          " of tasks written; the others were shorter than ",
          absl::StrFormat("%.15g", static_cast<double>(min_us_) / 1000),
          " ms (--min-duration)"));
    }
    return true;
  }
  std::vector<std::string> Notes() const override { return notes_; }

 private:
  const uint64_t min_us_;
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<TrackSource> NewTaskSource(uint64_t min_us) {
  return std::make_unique<TaskSource>(min_us);
}

}  // namespace pymemrun
