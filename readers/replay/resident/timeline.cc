#include "readers/replay/resident/timeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pymemrun {

TimelineReplay::TimelineReplay(GroupBy by, std::vector<uint64_t> time_us,
                               Hindsight hindsight, uint64_t until_us)
    : ResidentReplay(until_us, std::move(hindsight)),
      numbers_(by, &index(), &places_),
      moments_(std::move(time_us)) {}

// The model does not change before `time_us`, so it has the values of all
// moments until then.
void TimelineReplay::OnTime(uint64_t time_us) {
  for (; next_ < moments_.size() && moments_[next_] < time_us; ++next_) {
    TakeMoment(moments_[next_]);
  }
}

void TimelineReplay::Finish() {
  ResidentReplay::Finish();
  OnTime(kEnd);
}

// Whatever TakeValues() does not charge is unattributed. It may be negative.
void TimelineReplay::TakeMoment(uint64_t time_us) {
  if (next_ + 1 < moments_.size() && !IsWanted(time_us)) return;
  curves_.time_us.push_back(time_us);
  const uint64_t rss_bytes = model().RssBytes();
  curves_.total.values.push_back(static_cast<double>(rss_bytes));
  added_bytes_ = 0;
  TakeValues(time_us);
  unattributed_.push_back(
      static_cast<double>(static_cast<int64_t>(rss_bytes - added_bytes_)));
}

// A curve is extended only when it has a value, and gets zeros for the moments
// before.
void TimelineReplay::Add(uint64_t bytes, std::vector<double>* values) {
  if (bytes == 0) return;
  values->resize(curves_.time_us.size());
  values->back() += static_cast<double>(bytes);
  added_bytes_ += bytes;
}

// Places have numbers in the order in which they appear. The latest ones do not
// fit.
void TimelineReplay::AddTo(uint32_t number, uint64_t bytes) {
  if (number >= kMaxPlaces) return AddOther(bytes);
  if (number >= values_.size()) values_.resize(number + 1);
  Add(bytes, &values_[number]);
}

void TimelineReplay::AddPart(absl::string_view name, uint64_t bytes) {
  if (bytes == 0) return;
  auto part = std::find_if(
      curves_.parts.begin(), curves_.parts.end(),
      [name](const Series& one) { return one.place.file == name; });
  if (part == curves_.parts.end()) {
    constexpr const char* kGrays[] = {"#d8dee4", "#afb8c1", "#c9ced4"};
    const char* const gray = kGrays[curves_.parts.size() % std::size(kGrays)];
    part = curves_.parts.insert(part, {NamedPlace(name), "", gray});
  }
  Add(bytes, &part->values);
}

// Every owner is examined at every moment: the cost is moments times owners.
void TimelineReplay::TakeValues(uint64_t) {
  uint64_t before_bytes = model().UnlistedBeforeBytes();
  for (uint32_t owner = 1; owner < model().owners().size(); ++owner) {
    const uint64_t bytes = model().PagesOf(owner) * model().page_bytes();
    if (bytes == 0) continue;
    const PageOwner& of = model().owners()[owner];
    if (of.before_tracing()) {
      before_bytes += bytes;
    } else if (threads_.Keeps(of.thread)) {
      AddTo(numbers_.NumberOf(owner, of.origin()), bytes);
    } else {
      AddOther(bytes);
    }
  }
  const uint64_t own_bytes = TracingBytesOf(before_bytes);
  AddBefore(before_bytes - own_bytes);
  AddPart(kTracingItself, own_bytes);
}

Curves TimelineReplay::Result(const SeriesChoice& choice) const {
  Curves curves = curves_;
  const size_t moments = curves.time_us.size();
  curves.total.place = NamedPlace("rss_bytes");
  curves.total.title = "RSS";
  curves.others.place = NamedPlace("other places");
  curves.parts.push_back(
      {NamedPlace(kBeforeTracing), "", "#c9ced4", true, before_});
  curves.parts.push_back(
      {NamedPlace(kUnattributed), "", "#eaeef2", false, unattributed_});
  for (Series& part : curves.parts) part.values.resize(moments);
  AddSeries(values_, places_.places(),
            LargestPlaces(values_, places_.places(), choice, moments), &curves);
  return curves;
}

// The model stays as it is from now_us() to `time_us`. The moment counts if
// that time overlaps the part.
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

}  // namespace pymemrun
