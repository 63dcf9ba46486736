#include "readers/answer/place_curves.h"

#include <algorithm>
#include <utility>

#include "readers/answer/answer.h"
#include "readers/answer/held_timeline.h"
#include "readers/output/whole_number.h"
#include "readers/resident/timeline.h"

namespace pymemrun {
namespace {

// The places with the highest peaks.
constexpr uint64_t kMostSeries = 256;

Place WithoutFunction(Place place) {
  if (!place.file.empty()) place.function = {};
  return place;
}

template <typename Value>
void AddTo(std::vector<double>* sums, const std::vector<Value>& values,
           size_t count) {
  const size_t steps = std::min(values.size(), count);
  sums->resize(std::max(sums->size(), steps));
  for (size_t i = 0; i < steps; ++i) {
    (*sums)[i] += static_cast<double>(values[i]);
  }
}

std::vector<uint64_t> MomentsOf(const EvenSteps& steps) {
  std::vector<uint64_t> moments;
  for (size_t i = 0; i < steps.count; ++i) moments.push_back(i * steps.step_us);
  return moments;
}

// What lines hold beside pages of files.
class PoolTimeline final : public HeldTimelineReplay {
 public:
  PoolTimeline(const std::vector<uint64_t>& moments, int fd,
               Hindsight hindsight)
      : HeldTimelineReplay(GroupBy::kLine, moments, moments.back(), fd,
                           std::move(hindsight)) {}

 private:
  void TakeSplit(const MemorySplit& split) override {
    for (const PlaceHolding& holding : split.places) {
      AddPlace(holding.place, WholeNumber(holding.bytes - holding.file_bytes));
    }
  }
};

}  // namespace

std::unique_ptr<HeapHistoryReplay> HeapCurves(
    GroupBy by, const EvenSteps& steps,
    std::shared_ptr<const LibraryWaits> waits) {
  HeapHistoryOptions options;
  options.by = by;
  options.interval_us = steps.step_us;
  options.with_gain_variance = true;
  // Events may claim times far behind the run.
  options.to_us = (steps.count - 1) * steps.step_us;
  auto history = std::make_unique<HeapHistoryReplay>(options);
  history->KnowWaits(std::move(waits));
  return history;
}

void TakeCurves(std::shared_ptr<HeapHistoryReplay> history,
                const EvenSteps& steps, PlaceCurves* curves) {
  for (const auto& series : history->Result(kMostSeries).series) {
    const Place place = WithoutFunction(series.place);
    AddTo(&curves->bytes[place], series.bytes, steps.count);
    if (series.gain_variance.empty()) continue;
    AddTo(&curves->gain_variance[place], series.gain_variance, steps.count);
  }
  curves->names = std::move(history);
}

bool ReadPoolCurves(RereadFile* file, const Answer& answer,
                    const EvenSteps& steps, PlaceCurves* curves) {
  PoolTimeline timeline(MomentsOf(steps), file->fd(), answer.hindsight);
  if (!file->Read(&timeline)) return false;
  const Timeline line = timeline.Result(UINT64_MAX, 0);
  for (const PlaceHolding& holding : answer.peak.split.places) {
    if (holding.pool_bytes <= 0) continue;
    std::vector<double>& bytes = curves->bytes[holding.place];
    bytes.assign(steps.count, 0);
    const auto found = std::find_if(
        line.series.begin(), line.series.end(),
        [&](const auto& series) { return series.place == holding.place; });
    if (found == line.series.end()) continue;
    // Not every moment was worth its time.
    size_t taken = 0;
    for (size_t i = 0; i < steps.count; ++i) {
      while (taken + 1 < line.time_us.size() &&
             line.time_us[taken + 1] <= i * steps.step_us) {
        ++taken;
      }
      bytes[i] = static_cast<double>(found->bytes[taken]);
    }
  }
  return true;
}

bool ReadPlaceCurves(RereadFile* file, const Answer& answer, GroupBy by,
                     const EvenSteps& steps, PlaceCurves* curves) {
  if (answer.facts.HasHeap()) {
    auto history = HeapCurves(by, steps, answer.hindsight.waits);
    if (!file->Read(history.get())) return false;
    TakeCurves(std::move(history), steps, curves);
    return true;
  }
  auto timeline =
      std::make_unique<TimelineReplay>(by, MomentsOf(steps), answer.hindsight);
  if (!file->Read(timeline.get())) return false;
  for (const auto& series : timeline->Result(kMostSeries, 0).series) {
    AddTo(&curves->bytes[WithoutFunction(series.place)], series.bytes,
          steps.count);
  }
  curves->names = std::move(timeline);
  return true;
}

}  // namespace pymemrun
