// The tracks of asyncio's tasks: one for each of those that ran most, below the
// thread that ran it. The other tasks of a thread share one. In pictures all
// tasks of a thread share one track, and those that ran most have names.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/replay/current_task/task_names.h"
#include "readers/tracks/track_source.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// The most tasks with tracks of their own, and with names in a picture.
constexpr size_t kMostTracks = 100, kMostNames = 8;
// A task with a smaller share of the time of all tasks has no name in a
// picture.
constexpr double kLeastTaskShare = 0.001;
constexpr absl::string_view kOtherTasks = "other tasks";
constexpr absl::string_view kOtherTasksColor = "#b9b3a6";

struct Step {
  uint64_t begin_us, end_us;
  uint32_t thread, task;
  int64_t growth_bytes;
  bool is_cut;
};

// Memory: 40 bytes for each step. Not thread safe.
class TaskTracks final : public ReplayVisitor {
 public:
  HeapUse heap_use() const override { return HeapUse::kNone; }
  TaskTracks(const SourceOptions& options, TrackSink* sink)
      : options_(options), sink_(*sink), threads_(&index(), sink) {}

  void OnTask(const TaskDef& task) override { names_.Add(task); }
  bool OnTasks(const TaskEvent* events, size_t count) override {
    for (size_t i = 0; i < count; ++i) {
      if (events[i].is_step()) Take(events[i]);
    }
    return true;
  }
  void Finish() override;

  std::vector<std::string> Notes() const {
    if (too_short_ == 0) return {};
    return {ShorterText(steps_.size(), too_short_, "step", "steps", "of tasks",
                        options_.min_us)};
  }

 private:
  void Take(const TaskEvent& event);
  void FindMost();
  uint32_t NameOf(uint32_t task);
  uint32_t LaneOf(const Step& step);
  void Give(uint32_t lane, const std::vector<const Step*>& steps);

  const SourceOptions options_;
  TrackSink& sink_;
  TrackThreads threads_;
  TaskNames names_{&index()};
  std::vector<Step> steps_;
  absl::flat_hash_map<uint32_t, uint64_t> ran_us_;  // by task, of kept threads
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
  if (step.end_us - step.begin_us < options_.min_us) {
    ++too_short_;
    return;
  }
  if (sink_.Keeps(step.thread)) {
    ran_us_[step.task] += step.end_us - step.begin_us;
  }
  steps_.push_back(step);
}

// Chooses the tasks that ran most. In lanes_ they are marked by 0.
void TaskTracks::FindMost() {
  std::vector<std::pair<uint64_t, uint32_t>> order;
  double all_us = 0;
  for (const auto& [task, ran_us] : ran_us_) {
    order.push_back({ran_us, task});
    all_us += static_cast<double>(ran_us);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  const bool for_picture = options_.for_picture;
  order.resize(std::min(order.size(), for_picture ? kMostNames : kMostTracks));
  const double least_us = for_picture ? kLeastTaskShare * all_us : 0;
  for (const auto& [ran_us, task] : order) {
    if (static_cast<double>(ran_us) >= least_us) lanes_[task] = 0;
  }
  if (!for_picture) return;
  // The order in which a picture lists them.
  for (const auto& [ran_us, task] : order) NameOf(task);
}

uint32_t TaskTracks::NameOf(uint32_t task) {
  const bool is_other = options_.for_picture && !lanes_.contains(task);
  uint32_t& name = slices_[is_other ? 0 : task];
  if (name != 0) return name;
  SliceName slice;
  slice.name = is_other ? kOtherTasks : names_.Label(task);
  std::string says;
  if (is_other) {
    slice.color = kOtherTasksColor;
    says = absl::StrCat(Grouped(ran_us_.size() - lanes_.size()),
                        " that ran less than those above");
  } else if (options_.for_picture) {
    says = "steps of this task";
  }
  slice.says = says;
  return name = sink_.AddName(slice);
}

uint32_t TaskTracks::LaneOf(const Step& step) {
  const auto own = options_.for_picture ? lanes_.end() : lanes_.find(step.task);
  uint32_t& lane = own != lanes_.end() ? own->second : shared_[step.thread];
  if (lane == 0) {
    lane = sink_.AddLane(threads_.TrackOf(step.thread),
                         own != lanes_.end()    ? names_.Label(step.task)
                         : options_.for_picture ? "tasks"
                                                : kOtherTasks);
  }
  return lane;
}

// Slices of a track are nested or disjoint, even in a damaged file.
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
    sink_.Begin(lane, step->begin_us, NameOf(step->task));
    const uint64_t end_us =
        open.empty() ? step->end_us : std::min(step->end_us, open.back().first);
    open.push_back({end_us, end});
  }
  close_until(~uint64_t{0});
}

// Which tasks ran most is known only now. Steps are sorted by time, outer ones
// first, and then given lane by lane.
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

}  // namespace

std::unique_ptr<TrackSource> NewTaskSource(const SourceOptions& options) {
  return std::make_unique<ReadOnce<TaskTracks>>(options);
}

}  // namespace pymemrun
