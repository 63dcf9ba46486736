#include "readers/resident/timeline.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pymemrun {

TimelineReplay::TimelineReplay(GroupBy by, std::vector<uint64_t> time_us,
                               Hindsight hindsight, uint64_t until_us)
    : ResidentReplay(until_us, std::move(hindsight)),
      numbers_(by, &index(), &places_),
      moments_(std::move(time_us)) {}

void TimelineReplay::OnTime(uint64_t time_us) {
  for (; next_ < moments_.size() && moments_[next_] < time_us; ++next_) {
    TakeMoment(moments_[next_]);
  }
}

void TimelineReplay::Finish() {
  ResidentReplay::Finish();
  OnTime(kEnd);
}

void TimelineReplay::TakeMoment(uint64_t time_us) {
  if (next_ + 1 < moments_.size() && !IsWanted(time_us)) return;
  line_.time_us.push_back(time_us);
  line_.rss_bytes.push_back(model().RssBytes());
  not_placed_.push_back(0);
  added_bytes_ = 0;
  TakeValues(time_us);
  line_.unattributed_bytes.push_back(static_cast<int64_t>(
      model().RssBytes() - added_bytes_ - not_placed_.back()));
}

void TimelineReplay::AddTo(uint32_t number, uint64_t bytes) {
  if (bytes == 0) return;
  if (number >= kMaxPlaces) return AddOther(bytes);
  if (number >= bytes_.size()) bytes_.resize(number + 1);
  bytes_[number].resize(line_.time_us.size());
  bytes_[number].back() += bytes;
  added_bytes_ += bytes;
}

void TimelineReplay::AddPart(absl::string_view name, uint64_t bytes) {
  if (bytes == 0) return;
  auto part = std::find_if(
      line_.parts.begin(), line_.parts.end(),
      [name](const Timeline::Series& one) { return one.place.file == name; });
  if (part == line_.parts.end()) {
    part = line_.parts.insert(part, {NamedPlace(name)});
  }
  part->bytes.resize(line_.time_us.size());
  part->bytes.back() += bytes;
  added_bytes_ += bytes;
}

void TimelineReplay::TakeValues(uint64_t) {
  uint64_t before_bytes = model().UnlistedBeforeBytes();
  for (uint32_t owner = 1; owner < model().owners().size(); ++owner) {
    const uint64_t bytes = model().PagesOf(owner) * model().page_bytes();
    if (bytes == 0) continue;
    const PageOwner& of = model().owners()[owner];
    if (of.before_tracing()) {
      before_bytes += bytes;
    } else if (threads_.Keeps(of.thread)) {
      AddTo(1 + numbers_.NumberOf(owner, of.origin()), bytes);
    } else {
      AddOther(bytes);
    }
  }
  const uint64_t own_bytes = TracingBytesOf(before_bytes);
  AddBefore(before_bytes - own_bytes);
  AddPart(kTracingItself, own_bytes);
}

Timeline TimelineReplay::Result(uint64_t top, uint64_t least_bytes,
                                const TableView& view) const {
  Timeline line = line_;
  const size_t steps = line.time_us.size();
  line.before_bytes.resize(steps);
  for (size_t i = 0; !bytes_.empty() && i < bytes_[0].size(); ++i) {
    line.before_bytes[i] = bytes_[0][i];
  }
  for (Timeline::Series& part : line.parts) part.bytes.resize(steps);
  std::vector<Timeline::Series> all;
  for (size_t number = 1; number < bytes_.size(); ++number) {
    Timeline::Series series;
    series.place = places_.places()[number - 1];
    series.bytes = bytes_[number];
    series.bytes.resize(steps);
    series.peak_bytes =
        *std::max_element(series.bytes.begin(), series.bytes.end());
    if (series.peak_bytes > 0) all.push_back(std::move(series));
  }
  std::sort(all.begin(), all.end(),
            [](const Timeline::Series& a, const Timeline::Series& b) {
              return a.peak_bytes != b.peak_bytes ? a.peak_bytes > b.peak_bytes
                                                  : a.place < b.place;
            });
  const auto listed = std::stable_partition(
      all.begin(), all.end(), [&view](const Timeline::Series& series) {
        return view.Lists(series.place.file);
      });
  top = std::min<uint64_t>(top, listed - all.begin());
  while (top > 0 && all[top - 1].peak_bytes < least_bytes) --top;
  line.other_bytes = not_placed_;
  for (size_t i = top; i < all.size(); ++i) {
    for (size_t step = 0; step < steps; ++step) {
      line.other_bytes[step] += all[i].bytes[step];
    }
  }
  if (all.size() > top) all.resize(top);
  line.series = std::move(all);
  return line;
}

void PartPeak::OnTime(uint64_t time_us) {
  const bool is_in_part = time_us > from_us_ && now_us() <= to_us_;
  if (!is_in_part || model().RssBytes() <= bytes_) return;
  bytes_ = model().RssBytes();
  time_us_ = std::max(now_us(), from_us_);
}

void PartPeak::Finish() {
  ResidentReplay::Finish();
  OnTime(kEnd);
}

std::vector<uint64_t> TimelineSteps(uint64_t end_us, uint64_t peak_us) {
  constexpr uint64_t kSteps = 400;
  std::vector<uint64_t> steps = {std::min(peak_us, end_us)};
  for (uint64_t i = 0; i <= kSteps; ++i) {
    // Without overflow, whatever the file says of its end.
    steps.push_back(end_us / kSteps * i + end_us % kSteps * i / kSteps);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

std::vector<uint64_t> PartSteps(uint64_t from_us, uint64_t to_us,
                                uint64_t peak_us) {
  std::vector<uint64_t> steps =
      TimelineSteps(to_us - from_us, peak_us - from_us);
  for (uint64_t& step_us : steps) step_us += from_us;
  return steps;
}

}  // namespace pymemrun
