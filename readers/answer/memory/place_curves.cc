#include "readers/answer/memory/place_curves.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "readers/answer/memory/answer.h"
#include "readers/answer/memory/held_timeline.h"
#include "readers/output/whole_number.h"
#include "readers/replay/resident/page_mappings.h"

namespace pymemrun {
namespace {

// The number of places with curves: those with the highest peaks.
constexpr uint64_t kMostSeries = 256;

// A line is one place, even if several functions have it, as in MemorySplit.
Place WithoutFunction(Place place) {
  if (!place.file.empty()) place.function = {};
  return place;
}

// Adds values step by step. Sums may be shorter than `count`: zeros at the end
// are left out.
void AddValues(const std::vector<double>& values, size_t count,
               std::vector<double>* sums) {
  const size_t steps = std::min(values.size(), count);
  sums->resize(std::max(sums->size(), steps));
  for (size_t i = 0; i < steps; ++i) (*sums)[i] += values[i];
}

std::vector<uint64_t> MomentsOf(const EvenSteps& steps) {
  std::vector<uint64_t> moments;
  for (size_t i = 0; i < steps.count; ++i) moments.push_back(i * steps.step_us);
  return moments;
}

// The answer's own lines whose memory is not just their live blocks: they have
// pages in mappings, or have not touched all of their blocks.
absl::flat_hash_set<Place> LinesBesideBlocks(const Answer& answer,
                                             const PlaceCurves& curves) {
  // Lines below kLeast of RSS are not worth a reading. The others are chosen if
  // they hold kLeastShare beside their blocks. Or else their blocks' curve
  // exceeds kMost times the resident part.
  constexpr double kLeast = 0.01, kLeastShare = 0.125, kMost = 1.25;
  struct Held {
    double blocks = 0, others = 0;
  };
  absl::flat_hash_map<Place, Held> lines;
  for (const PlaceHolding& holding : answer.peak.split.places) {
    if (!holding.is_own ||
        holding.bytes < kLeast * answer.peak.split.rss_bytes) {
      continue;
    }
    lines[holding.place];
  }
  for (const AnswerMoment* moment : {&answer.peak, &answer.end}) {
    for (const PlaceHolding& holding : moment->split.places) {
      const auto line = lines.find(holding.place);
      if (line == lines.end()) continue;
      const double others = holding.pool_bytes + holding.mapped_bytes;
      Held& held = line->second;
      held.blocks =
          std::max(held.blocks, holding.bytes - holding.file_bytes - others);
      held.others = std::max(held.others, others);
    }
  }
  absl::flat_hash_set<Place> beside;
  for (const auto& [place, held] : lines) {
    const auto curve = curves.bytes.find(place);
    double most = 0;
    if (curve != curves.bytes.end()) {
      for (const double bytes : curve->second) most = std::max(most, bytes);
    }
    if (held.others > kLeastShare * held.blocks || most > kMost * held.blocks) {
      beside.insert(place);
    }
  }
  return beside;
}

// The curves of lines, without pages of files.
class HeldCurves final : public HeldTimelineReplay {
 public:
  HeldCurves(const std::vector<uint64_t>& moments, int fd, Hindsight hindsight)
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
  // A malformed file may have events far beyond the run's end.
  options.to_us = (steps.count - 1) * steps.step_us;
  auto history = std::make_unique<HeapHistoryReplay>(options);
  history->KnowWaits(std::move(waits));
  return history;
}

void TakeCurves(std::shared_ptr<HeapHistoryReplay> history,
                const EvenSteps& steps, PlaceCurves* curves) {
  for (const Series& series : history->Result({.top = kMostSeries}).chosen) {
    const Place place = WithoutFunction(series.place);
    AddValues(series.values, steps.count, &curves->bytes[place]);
    if (series.gain_variance.empty()) continue;
    AddValues(series.gain_variance, steps.count, &curves->gain_variance[place]);
  }
  curves->names = std::move(history);
}

FileTimeline::FileTimeline(const EvenSteps& steps, uint64_t until_us,
                           Hindsight hindsight)
    : TimelineReplay(GroupBy::kLine, MomentsOf(steps), std::move(hindsight),
                     until_us),
      count_(steps.count) {}

// Pages are summed up by owner first, as an owner has many ranges.
void FileTimeline::TakeValues(uint64_t) {
  const size_t owners = model().owners().size();
  std::vector<uint64_t> pages(owners);
  ForEachPart(*this, [&](const PageMap::Range& range, uint32_t owner,
                         uint32_t mapping, bool) {
    if (KindOf(index().MappingName(mapping)) != PageKind::kFile) return;
    pages[owner] += range.end - range.begin;
  });
  for (size_t i = 0; i < owners; ++i) {
    const PageOwner& owner = model().owners()[i];
    if (pages[i] == 0 || owner.before_tracing()) continue;
    const Origin origin = FileOriginOf(owner);
    AddPlace(WithoutFunction(PlaceOf(GroupBy::kLine, index(), origin)),
             pages[i] * owner.weight * model().page_bytes());
  }
}

void FileTimeline::AddTo(PlaceCurves* curves) const {
  for (const Series& series : Result().chosen) {
    AddValues(series.values, count_, &curves->bytes[series.place]);
  }
}

// Splitting RSS at each moment costs much more than the history of blocks. So
// it is done only if some line needs it.
bool ReadHeldCurves(RereadFile* file, const Answer& answer,
                    const EvenSteps& steps, PlaceCurves* curves) {
  const auto lines = LinesBesideBlocks(answer, *curves);
  if (lines.empty()) return true;
  HeldCurves timeline(MomentsOf(steps), file->fd(), answer.hindsight);
  if (!file->Read(&timeline)) return false;
  const Curves line = timeline.Result();
  // A line without a series held nothing at any moment.
  for (const Place& place : lines) curves->bytes[place].assign(steps.count, 0);
  for (const Series& series : line.chosen) {
    if (!lines.contains(series.place)) continue;
    std::vector<double>& bytes = curves->bytes[series.place];
    // Moments that would have taken too long are missing.
    size_t taken = 0;
    for (size_t i = 0; i < steps.count; ++i) {
      while (taken + 1 < line.time_us.size() &&
             line.time_us[taken + 1] <= i * steps.step_us) {
        ++taken;
      }
      bytes[i] = series.values[taken];
    }
  }
  return true;
}

// Blocks are better than pages: they tell what is still in use.
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
  for (const Series& series : timeline->Result({.top = kMostSeries}).chosen) {
    AddValues(series.values, steps.count,
              &curves->bytes[WithoutFunction(series.place)]);
  }
  curves->names = std::move(timeline);
  return true;
}

}  // namespace pymemrun
