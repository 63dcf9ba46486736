#include "readers/heap/heap_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pymemrun {
namespace {

constexpr uint64_t kFirstIntervalUs = 1000;

template <typename T>
void KeepEveryOther(std::vector<T>* values) {
  for (size_t i = 0; 2 * i < values->size(); ++i) {
    (*values)[i] = (*values)[2 * i];
  }
  values->resize((values->size() + 1) / 2);
}

double KeyOf(const HeapHistory::Series& series, HistoryOrder order) {
  switch (order) {
    case HistoryOrder::kPeak:
      return series.peak_bytes;
    case HistoryOrder::kEnd:
      return series.last_bytes;
    case HistoryOrder::kGrowth:
      return series.last_bytes - series.first_bytes;
  }
  return 0;
}

}  // namespace

double VarianceOfGain(double came, double went) {
  constexpr double kReplaced = 2.5;
  return came + went + kReplaced * std::min(came, went);
}

HeapHistoryReplay::HeapHistoryReplay(const HeapHistoryOptions& options)
    : HeapReplay(options.from_us, options.to_us == kEnd),
      from_us_(options.from_us),
      to_us_(options.to_us),
      choose_(options.interval_us == 0),
      with_errors_(options.with_errors || options.with_gain_variance),
      with_gain_variance_(options.with_gain_variance),
      order_(options.order),
      view_(options.view),
      threads_(options.threads, &index()),
      interval_us_(choose_ ? kFirstIntervalUs : options.interval_us),
      numbers_(options.by, &index(), &places_) {}

uint64_t HeapHistoryReplay::OnStop(uint64_t stop_us) {
  too_many_ = !choose_ && (history_.time_us.size() >= kMaxMoments ||
                           looked_at_ > kMaxLooks);
  if (too_many_) return kEnd;
  TakeValues(stop_us);
  mutable_model().BeginStep(static_cast<uint32_t>(history_.time_us.size()));
  if (stop_us >= to_us_) {
    TakeKept();
    return kEnd;
  }
  if (choose_ && history_.time_us.size() > kMostChosen) Halve();
  const uint64_t last_us = history_.time_us.back();
  return interval_us_ >= to_us_ - last_us ? to_us_ : last_us + interval_us_;
}

void HeapHistoryReplay::Finish() {
  HeapReplay::Finish();
  const uint64_t end_us = std::min(last_us(), to_us_);
  const auto& taken = history_.time_us;
  if (!too_many_ && end_us >= from_us_ &&
      (taken.empty() || taken.back() < end_us)) {
    TakeValues(end_us);
    TakeKept();
  }
}

void HeapHistoryReplay::TakeKept() {
  if (!with_gain_variance_ || !sampled()) return;
  kept_variances_.resize(variances_.size());
  for (const auto& [address, block] : model().blocks()) {
    const HeapSource& source = model().sources()[block.source];
    if (!source.counts() || !threads_.Keeps(source.key.thread)) continue;
    const uint32_t number =
        numbers_.NumberOf(block.source, OriginOf(source.key, *this));
    if (number >= kept_variances_.size()) continue;
    HeapSums one;
    one.Add(block.size, model().WeightOf(block));
    std::vector<double>& of_steps = kept_variances_[number];
    of_steps.resize(history_.time_us.size());
    of_steps[std::min<size_t>(block.sequence, of_steps.size() - 1)] +=
        one.bytes_variance;
  }
}

void HeapHistoryReplay::TakeValues(uint64_t time_us) {
  const size_t step = history_.time_us.size();
  double live = 0, other = 0, tracing = 0, reserved = 0;
  looked_at_ += model().sources().size();
  for (uint32_t i = 0; i < model().sources().size(); ++i) {
    const HeapSource& source = model().sources()[i];
    if (source.live.recorded == 0) continue;
    const double bytes = source.live.bytes;
    if (!source.counts()) {
      (source.tracing ? tracing : reserved) += bytes;
      continue;
    }
    live += bytes;
    if (!threads_.Keeps(source.key.thread)) {
      other += bytes;
      continue;
    }
    const uint32_t number = numbers_.NumberOf(i, OriginOf(source.key, *this));
    if (number >= bytes_.size()) bytes_.resize(number + 1);
    if (number * (step + 1) >= kMaxValues) {
      other += bytes;
      continue;
    }
    bytes_[number].resize(step + 1);
    bytes_[number].back() += bytes;
    if (!with_errors_ || !sampled()) continue;
    variances_.resize(bytes_.size());
    variances_[number].resize(step + 1);
    variances_[number].back() += source.live.bytes_variance;
  }
  history_.time_us.push_back(time_us);
  history_.live_bytes.push_back(live);
  history_.other_bytes.push_back(other);
  history_.tracing_bytes.push_back(tracing);
  history_.reserved_bytes.push_back(reserved);
}

// There is an odd number of moments: the last one is kept.
void HeapHistoryReplay::Halve() {
  KeepEveryOther(&history_.time_us);
  KeepEveryOther(&history_.live_bytes);
  KeepEveryOther(&history_.other_bytes);
  KeepEveryOther(&history_.tracing_bytes);
  KeepEveryOther(&history_.reserved_bytes);
  for (auto& values : bytes_) KeepEveryOther(&values);
  for (auto& values : variances_) KeepEveryOther(&values);
  interval_us_ *= 2;
}

std::vector<double> HeapHistoryReplay::ErrorsOf(size_t number) const {
  if (variances_.empty()) return {};
  std::vector<double> errors = variances_[number];
  errors.resize(history_.time_us.size());
  for (double& one : errors) one = std::sqrt(std::max(one, 0.0));
  return errors;
}

// Of what was alive at a moment and went, and of what came and is alive.
std::vector<double> HeapHistoryReplay::GainVarianceOf(size_t number) const {
  if (number >= kept_variances_.size()) return {};
  const size_t steps = history_.time_us.size();
  std::vector<double> at = variances_[number], kept = kept_variances_[number];
  at.resize(steps);
  kept.resize(steps);
  std::vector<double> variance(steps);
  double came = 0;
  for (size_t i = steps - 1; i-- > 0;) {
    came += kept[i + 1];
    const double went = at[i] - (at[steps - 1] - came);
    variance[i] = VarianceOfGain(came, std::max(went, 0.0));
  }
  return variance;
}

HeapHistory HeapHistoryReplay::Result(uint64_t top) const {
  HeapHistory history = history_;
  const size_t steps = history.time_us.size();
  // Without their values: most places have only a few.
  std::vector<std::pair<HeapHistory::Series, size_t>> all;
  for (size_t number = 0; number < bytes_.size(); ++number) {
    HeapHistory::Series series = {places_.places()[number]};
    for (const double bytes : bytes_[number]) {
      series.peak_bytes = std::max(series.peak_bytes, bytes);
    }
    if (series.peak_bytes <= 0) continue;
    series.first_bytes = bytes_[number].front();
    if (bytes_[number].size() == steps)
      series.last_bytes = bytes_[number].back();
    all.emplace_back(std::move(series), number);
  }
  const auto listed = std::partition(
      all.begin(), all.end(),
      [this](const auto& one) { return view_.Lists(one.first.place.file); });
  std::sort(all.begin(), listed, [this](const auto& a, const auto& b) {
    const double left = KeyOf(a.first, order_), right = KeyOf(b.first, order_);
    return left != right ? left > right : a.first.place < b.first.place;
  });
  top = std::min<uint64_t>(top, listed - all.begin());
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<double>& values = bytes_[all[i].second];
    if (i < top) {
      HeapHistory::Series& series = history.series.emplace_back(all[i].first);
      series.bytes = values;
      series.bytes.resize(steps);
      series.errors = ErrorsOf(all[i].second);
      series.gain_variance = GainVarianceOf(all[i].second);
      continue;
    }
    for (size_t step = 0; step < values.size(); ++step) {
      history.other_bytes[step] += values[step];
    }
  }
  return history;
}

}  // namespace pymemrun
