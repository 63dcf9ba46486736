#include "readers/answer/place_curves.h"

#include <algorithm>
#include <utility>

#include "readers/answer/answer.h"
#include "readers/resident/timeline.h"

namespace pymemrun {
namespace {

// The places with the highest peaks.
constexpr uint64_t kMostSeries = 256;

template <typename Result>
void TakeSeries(const Result& result, size_t count, PlaceCurves* curves) {
  for (const auto& series : result.series) {
    Place place = series.place;
    if (!place.file.empty()) place.function = {};
    std::vector<double>& sums = curves->bytes[place];
    const size_t steps = std::min(series.bytes.size(), count);
    sums.resize(std::max(sums.size(), steps));
    for (size_t i = 0; i < steps; ++i) {
      sums[i] += static_cast<double>(series.bytes[i]);
    }
  }
}

}  // namespace

std::unique_ptr<HeapHistoryReplay> HeapCurves(
    GroupBy by, const EvenSteps& steps,
    std::shared_ptr<const LibraryWaits> waits) {
  HeapHistoryOptions options;
  options.by = by;
  options.interval_us = steps.step_us;
  // Events may claim times far behind the run.
  options.to_us = (steps.count - 1) * steps.step_us;
  auto history = std::make_unique<HeapHistoryReplay>(options);
  history->KnowWaits(std::move(waits));
  return history;
}

void TakeCurves(std::shared_ptr<HeapHistoryReplay> history,
                const EvenSteps& steps, PlaceCurves* curves) {
  TakeSeries(history->Result(kMostSeries), steps.count, curves);
  curves->names = std::move(history);
}

bool ReadPlaceCurves(RereadFile* file, const Answer& answer, GroupBy by,
                     const EvenSteps& steps, PlaceCurves* curves) {
  if (answer.facts.HasHeap()) {
    auto history = HeapCurves(by, steps, answer.hindsight.waits);
    if (!file->Read(history.get())) return false;
    TakeCurves(std::move(history), steps, curves);
    return true;
  }
  std::vector<uint64_t> moments;
  for (size_t i = 0; i < steps.count; ++i) moments.push_back(i * steps.step_us);
  auto timeline = std::make_unique<TimelineReplay>(by, std::move(moments),
                                                   answer.hindsight);
  if (!file->Read(timeline.get())) return false;
  TakeSeries(timeline->Result(kMostSeries, 0), steps.count, curves);
  curves->names = std::move(timeline);
  return true;
}

}  // namespace pymemrun
