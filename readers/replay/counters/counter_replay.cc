#include "readers/replay/counters/counter_replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace pymemrun {

using Look = CounterSeries::Look;

// In the order of Kind.
CounterReplay::CounterReplay()
    : series_({{"rss", Look::kBytes},
               {"pss", Look::kBytes},
               {"live_heap", Look::kBytes},
               {"cpu_user", Look::kSeconds},
               {"cpu_system", Look::kSeconds},
               {"minor_faults", Look::kTotal},
               {"major_faults", Look::kTotal},
               {"descriptors", Look::kNumber}}) {}

// Fields that could not be read are 0 and left out. Descriptors are stored plus
// 1, so that 0 of them differs from unknown.
void CounterReplay::OnProcess(const ProcessSample& sample) {
  HeapReplay::OnProcess(sample);
  const uint64_t time_us = sample.time_us();
  const auto add = [&](Kind kind, double value) {
    series_[kind].Add(time_us, value);
  };
  // VmHWM is the highest RSS since the process started. For a part of the run
  // it says nothing.
  if (!of_part()) {
    hwm_bytes_ = std::max<uint64_t>(hwm_bytes_, sample.hwm_bytes());
  }
  if (sample.rss_bytes() != 0) {
    add(kRss, static_cast<double>(sample.rss_bytes()));
  }
  if (sample.pss_bytes() != 0) {
    add(kPss, static_cast<double>(sample.pss_bytes()));
  }
  if (!sample.counted()) return;
  const bool is_within = time_us >= from_us_ && time_us <= to_us_;
  if (is_within && samples_++ == 0) first_sample_us_ = time_us;
  if (is_within) last_sample_us_ = std::max(last_sample_us_, time_us);
  if (has_heap_events()) add(kHeap, model().live().bytes);
  add(kUserCpu, static_cast<double>(sample.user_us()) * 1e-6);
  add(kSystemCpu, static_cast<double>(sample.system_us()) * 1e-6);
  add(kMinorFaults, static_cast<double>(sample.minor_faults()));
  add(kMajorFaults, static_cast<double>(sample.major_faults()));
  if (sample.descriptors() != 0) {
    add(kDescriptors, static_cast<double>(sample.descriptors() - 1));
  }
}

void CounterReplay::OnGcRun(const GcRun& run) {
  gc_runs_known_ = true;
  if (run.begin_us() > run.time_us()) return;
  gc_runs_.push_back(run);
  known_gc_runs_.Add(run.begin_us(), run.time_us());
}

void CounterReplay::OnCounter(const CounterValue& value) {
  const auto [found, is_new] =
      by_name_.try_emplace(value.name(), series_.size());
  if (is_new) {
    // A user's counter with the name of one of the process's counters gets a
    // prefix.
    const bool is_taken = std::any_of(series_.begin(), series_.begin() + kKinds,
                                      [&](const CounterSeries& other) {
                                        return other.name() == value.name();
                                      });
    series_.emplace_back(absl::StrCat(is_taken ? "user:" : "", value.name()),
                         Look::kNumber);
  }
  series_[found->second].Add(value.time_us(),
                             value.value_case() == CounterValue::kReal
                                 ? value.real()
                                 : static_cast<double>(value.whole()));
}

void CounterReplay::OnCounterPlan(const CounterPlan& plan) {
  every_us_ = std::max<uint64_t>(every_us_, plan.every_us());
  gc_runs_known_ |= plan.gc_runs();
  refused_ = std::max<uint64_t>(refused_, plan.refused());
}

// After finalization starts, the interpreter closes and frees what the program
// has left. That would hide what the program itself left open.
void CounterReplay::OnFooter(const Footer& footer) {
  HeapReplay::OnFooter(footer);
  if (footer.finalize_us() == 0) return;
  series_[kHeap].EndAt(footer.finalize_us());
  series_[kDescriptors].EndAt(footer.finalize_us());
}

// The whole run was read: heap events before the range decide what is alive in
// it.
void CounterReplay::Finish() {
  HeapReplay::Finish();
  if (!of_part()) return;
  for (CounterSeries& series : series_) series.KeepBetween(from_us_, to_us_);
  std::erase_if(gc_runs_, [this](const GcRun& run) {
    return run.begin_us() < from_us_ || run.time_us() > to_us_;
  });
}

KnownTimes CounterReplay::KnownValues() const {
  KnownTimes all;
  for (const CounterSeries& series : series_) {
    all.Add(series.known().first_us, series.known().last_us);
  }
  return all;
}

uint64_t CounterReplay::LastOfAllUs() const {
  uint64_t last_us = kEnd;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    // PSS is read less often where that takes long.
    if (kind == kPss || series_[kind].empty()) continue;
    last_us = std::min(last_us, series_[kind].last().time_us);
  }
  return last_us;
}

uint64_t CounterReplay::TrueEveryUs() const {
  if (samples_ < 2 || last_sample_us_ < first_sample_us_) return 0;
  return (last_sample_us_ - first_sample_us_) / (samples_ - 1);
}

// Infinite values are left out, too: they would flatten every curve.
void CounterSeries::Add(uint64_t time_us, double value) {
  if (!std::isfinite(value)) return;
  const CounterPoint point = {
      points_.empty() ? time_us : std::max(time_us, points_.back().time_us),
      value};
  sank_ |= !points_.empty() && value < points_.back().value;
  if (points_.empty() || value < least_.value) least_ = point;
  if (points_.empty() || value > most_.value) most_ = point;
  points_.push_back(point);
  known_.Add(point.time_us, point.time_us);
}

void CounterSeries::EndAt(uint64_t time_us) {
  if (points_.empty() || points_.front().time_us > time_us) return;
  Keep([time_us](uint64_t at) { return at <= time_us; });
}

void CounterSeries::KeepBetween(uint64_t from_us, uint64_t to_us) {
  Keep([=](uint64_t at) { return at >= from_us && at <= to_us; });
}

template <typename Wanted>
void CounterSeries::Keep(Wanted wanted) {
  std::vector<CounterPoint> all;
  all.swap(points_);
  sank_ = false;
  for (const CounterPoint& point : all) {
    if (wanted(point.time_us)) Add(point.time_us, point.value);
  }
}

const CounterPoint& CounterSeries::Before(uint64_t time_us) const {
  const auto after = std::upper_bound(
      points_.begin(), points_.end(), time_us,
      [](uint64_t at, const CounterPoint& p) { return at < p.time_us; });
  return after == points_.begin() ? points_.front() : *(after - 1);
}

// A counter that rose once, at the start, is no leak: it has to grow in both
// halves.
bool CounterSeries::OnlyGrows() const {
  if (sank_ || points_.size() < 3) return false;
  const uint64_t middle_us =
      first().time_us + (last().time_us - first().time_us) / 2;
  const auto middle = std::find_if(
      points_.begin(), points_.end(),
      [middle_us](const CounterPoint& p) { return p.time_us >= middle_us; });
  return first().value < middle->value && middle->value < last().value;
}

// For a counter that only grows, the curve shows the growth in each column: the
// rate is more telling than the sum.
std::vector<double> CounterSeries::Curve(size_t columns,
                                         uint64_t end_us) const {
  if (empty() || columns == 0) return std::vector<double>(columns);
  const double start = first().value;
  std::vector<double> curve =
      Resampled(points_, first().time_us, end_us, columns, start);
  if (grows_only()) {
    std::adjacent_difference(curve.begin(), curve.end(), curve.begin());
    curve[0] -= start;
  }
  // The curve's lowest line is 0.
  const double least = *std::min_element(curve.begin(), curve.end());
  if (least < 0) {
    for (double& value : curve) value -= least;
  }
  return curve;
}

}  // namespace pymemrun
