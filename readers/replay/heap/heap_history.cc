#include "readers/replay/heap/heap_history.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pymemrun {
namespace {

// The interval that the choice of moments starts with; see Halve().
constexpr uint64_t kFirstIntervalUs = 1000;

template <typename T>
void KeepEveryOther(std::vector<T>* values) {
  for (size_t i = 0; 2 * i < values->size(); ++i) {
    (*values)[i] = (*values)[2 * i];
  }
  values->resize((values->size() + 1) / 2);
}

}  // namespace

double VarianceOfGain(double came, double went) {
  // If came = went = v it is 4.5 v, 2.25 times their sum: three errors of it
  // are four and a half of the sum's.
  constexpr double kReplaced = 2.5;
  return came + went + kReplaced * std::min(came, went);
}

HeapHistoryReplay::HeapHistoryReplay(const HeapHistoryOptions& options)
    : HeapReplay(options.from_us, options.to_us == kEnd),
      from_us_(options.from_us),
      to_us_(options.to_us),
      moments_(options.moments),
      choose_(options.interval_us == 0 && moments_.empty()),
      with_errors_(options.with_errors || options.with_gain_variance),
      with_gain_variance_(options.with_gain_variance),
      threads_(options.threads, &index()),
      interval_us_(choose_ ? kFirstIntervalUs : options.interval_us),
      numbers_(options.by, &index(), &places_) {
  curves_.parts = {{NamedPlace(kTracingItself), "tracing"},
                   {NamedPlace(kReserved), "reserved"}};
}

// Takes the values of one moment, and says when the next one is.
uint64_t HeapHistoryReplay::OnStop(uint64_t stop_us) {
  // Too many moments, or too much work in all of them.
  too_many_ = interval_us_ != 0 && !choose_ &&
              (curves_.time_us.size() >= kMaxMoments || looked_at_ > kMaxLooks);
  if (too_many_) return kEnd;
  TakeValues(stop_us);
  const size_t taken = curves_.time_us.size();
  if (!moments_.empty()) {
    return taken < moments_.size() ? moments_[taken] : kEnd;
  }
  // Blocks allocated from now on belong to the next step.
  mutable_model().BeginStep(static_cast<uint32_t>(taken));
  if (stop_us >= to_us_) {
    TakeKept();
    return kEnd;
  }
  // Without an interval: twice the interval, half the moments.
  if (choose_ && curves_.time_us.size() > kMostChosen) Halve();
  const uint64_t last_us = curves_.time_us.back();
  return interval_us_ >= to_us_ - last_us ? to_us_ : last_us + interval_us_;
}

void HeapHistoryReplay::Finish() {
  HeapReplay::Finish();
  // Moments after the run's end show the end.
  while (curves_.time_us.size() < moments_.size()) {
    TakeValues(moments_[curves_.time_us.size()]);
  }
  if (!moments_.empty()) return;
  const uint64_t end_us = std::min(last_us(), to_us_);
  const auto& taken = curves_.time_us;
  if (!too_many_ && end_us >= from_us_ &&
      (taken.empty() || taken.back() < end_us)) {
    TakeValues(end_us);
    TakeKept();
  }
}

// The variance of what is alive at the end, by the step that allocated it.
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
    of_steps.resize(curves_.time_us.size());
    of_steps[std::min<size_t>(block.sequence, of_steps.size() - 1)] +=
        one.bytes_variance;
  }
}

void HeapHistoryReplay::TakeValues(uint64_t time_us) {
  const size_t step = curves_.time_us.size();
  double live = 0, other = 0, tracing = 0, reserved = 0;
  // The cost of a moment: every source is examined.
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
    // The values would not fit: the place counts with the others.
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
  curves_.time_us.push_back(time_us);
  curves_.total.values.push_back(live);
  curves_.others.values.push_back(other);
  curves_.parts[0].values.push_back(tracing);
  curves_.parts[1].values.push_back(reserved);
}

// The number of moments is odd, so the last one is kept. All curves lose the
// same moments. How long the run lasts is not known while it is read.
void HeapHistoryReplay::Halve() {
  KeepEveryOther(&curves_.time_us);
  KeepEveryOther(&curves_.total.values);
  KeepEveryOther(&curves_.others.values);
  for (Series& part : curves_.parts) KeepEveryOther(&part.values);
  for (auto& values : bytes_) KeepEveryOther(&values);
  for (auto& values : variances_) KeepEveryOther(&values);
  interval_us_ *= 2;
}

std::vector<double> HeapHistoryReplay::ErrorsOf(size_t number) const {
  if (variances_.empty()) return {};
  std::vector<double> errors = variances_[number];
  errors.resize(curves_.time_us.size());
  for (double& one : errors) one = std::sqrt(std::max(one, 0.0));
  return errors;
}

// The variance of what was alive at a moment and was freed, and of what was
// allocated since and is alive.
std::vector<double> HeapHistoryReplay::GainVarianceOf(size_t number) const {
  if (number >= kept_variances_.size()) return {};
  const size_t steps = curves_.time_us.size();
  std::vector<double> at = variances_[number], kept = kept_variances_[number];
  at.resize(steps);
  kept.resize(steps);
  std::vector<double> variance(steps);
  double came = 0;
  // From the last moment backwards: sums up what came after each moment and is
  // still alive.
  for (size_t i = steps - 1; i-- > 0;) {
    came += kept[i + 1];
    // What was alive at the moment, minus what of it is still alive.
    const double went = at[i] - (at[steps - 1] - came);
    variance[i] = VarianceOfGain(came, std::max(went, 0.0));
  }
  return variance;
}

Curves HeapHistoryReplay::Result(const SeriesChoice& choice) const {
  Curves curves = curves_;
  curves.total.place = NamedPlace("live_bytes");
  curves.total.title = "live";
  curves.others.place = NamedPlace("other places");
  std::erase_if(curves.parts,
                [](const Series& part) { return part.Peak() <= 0; });
  const std::vector<size_t> chosen =
      LargestPlaces(bytes_, places_.places(), choice, curves.time_us.size());
  AddSeries(bytes_, places_.places(), chosen, &curves);
  for (size_t i = 0; i < chosen.size(); ++i) {
    curves.chosen[i].errors = ErrorsOf(chosen[i]);
    curves.chosen[i].gain_variance = GainVarianceOf(chosen[i]);
  }
  return curves;
}

}  // namespace pymemrun
