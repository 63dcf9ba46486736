#include "readers/threads/thread_curves.h"

#include <algorithm>
#include <cmath>

#include "readers/threads/thread_errors.h"

namespace pymemrun {
namespace {

// No process has so much: what a file says beyond that need not add up.
constexpr int64_t kMostBytes = int64_t{1} << 60;

int64_t Bounded(int64_t bytes) {
  return std::clamp(bytes, -kMostBytes, kMostBytes);
}

}  // namespace

bool ThreadCurves::any_other() const {
  return std::any_of(other_bytes.begin(), other_bytes.end(),
                     [](int64_t bytes) { return bytes != 0; });
}

ThreadCurvesReplay::ThreadCurvesReplay(GrowthBy by,
                                       std::vector<uint64_t> time_us,
                                       const std::vector<uint32_t>& chosen,
                                       Hindsight hindsight)
    : ResidentReplay(kEnd, std::move(hindsight)), by_(by) {
  curves_.time_us = std::move(time_us);
  curves_.threads.resize(chosen.size());
  highs_.resize(chosen.size());
  for (size_t i = 0; i < chosen.size(); ++i) {
    curves_.threads[i].thread = chosen[i];
    states_.resize(std::max<size_t>(states_.size(), chosen[i] + 1));
    states_[chosen[i]].chosen = static_cast<uint32_t>(i + 1);
  }
}

void ThreadCurvesReplay::OnHeader(const Header& header) {
  ResidentReplay::OnHeader(header);
  profile_.SetHeader(header);
}

bool ThreadCurvesReplay::OnRows(const Row* rows, size_t count) {
  any_row_ |= count > 0;
  for (size_t i = 0; by_ == GrowthBy::kEvents && i < count; ++i) {
    const Row& row = rows[i];
    PassTo(row.time_us);
    profile_.Add(row, index());
    if (row.context || row.thread >= profile_.threads().size()) continue;
    Set(row.thread, row.time_us, row.stack,
        profile_.threads()[row.thread].net_bytes());
  }
  return true;
}

void ThreadCurvesReplay::OnPause(const Pause& pause) { profile_.Add(pause); }

void ThreadCurvesReplay::OnChanged(const PageOwner& by, int64_t bytes) {
  if (by_ != GrowthBy::kFaults || now_us() == 0) return;
  const int64_t before =
      by.thread < states_.size() ? states_[by.thread].net_bytes : 0;
  Set(by.thread, now_us(), by.stack, before + Bounded(bytes));
}

void ThreadCurvesReplay::Set(uint32_t thread, uint64_t time_us, uint32_t stack,
                             int64_t bytes) {
  // What found no room in the index is nobody's, as what no thread did.
  if (thread == 0 || thread > index().threads()) return;
  if (thread >= states_.size()) states_.resize(index().threads() + 1);
  State& state = states_[thread];
  bytes = Bounded(bytes);
  const int64_t change = bytes - state.net_bytes;
  state.net_bytes = bytes;
  state.was_seen = true;
  const bool is_over = next_ >= curves_.time_us.size();
  if (!is_over && time_us >= curves_.time_us.front()) {
    state.highest_bytes = std::max(state.highest_bytes, bytes);
  }
  if (state.chosen == 0) {
    others_bytes_ = Bounded(others_bytes_ + change);
    return;
  }
  ThreadCurve::High& high = highs_[state.chosen - 1];
  if (bytes > high.bytes) high = {time_us, bytes, stack};
}

void ThreadCurvesReplay::PassTo(uint64_t time_us) {
  while (next_ < curves_.time_us.size() && curves_.time_us[next_] < time_us) {
    TakeValues();
  }
}

void ThreadCurvesReplay::TakeValues() {
  const uint64_t now_us = curves_.time_us[next_];
  if (next_ == 0) {
    for (State& state : states_) {
      state.highest_bytes = std::max<int64_t>(state.net_bytes, 0);
    }
  }
  for (size_t i = 0; i < curves_.threads.size(); ++i) {
    ThreadCurve& curve = curves_.threads[i];
    const int64_t bytes = states_[curve.thread].net_bytes;
    curve.bytes.push_back(bytes);
    // What was before the first moment is not shown.
    const bool is_shown = next_ > 0 && highs_[i].time_us != 0;
    curve.highs.push_back(is_shown ? highs_[i]
                                   : ThreadCurve::High{now_us, bytes, 0});
    highs_[i] = {0, bytes, 0};
  }
  curves_.other_bytes.push_back(others_bytes_);
  if (by_ == GrowthBy::kFaults && model().sampled()) TakeErrors();
  ++next_;
}

// Of the pages that are there by then.
void ThreadCurvesReplay::TakeErrors() {
  if (curves_.threads.empty()) return;
  const std::vector<double> variances = VariancesByThread(model());
  for (ThreadCurve& curve : curves_.threads) {
    const double variance =
        curve.thread < variances.size() ? variances[curve.thread] : 0;
    curve.errors.push_back(std::llround(std::sqrt(variance)));
  }
}

void ThreadCurvesReplay::Finish() {
  ResidentReplay::Finish();
  PassTo(kEnd);
  for (const State& state : states_) {
    curves_.others += state.was_seen && state.chosen == 0 ? 1 : 0;
  }
  for (ThreadCurve& curve : curves_.threads) {
    curve.name = std::string(index().ThreadLabel(curve.thread));
  }
}

std::vector<uint32_t> ThreadCurvesReplay::Largest(size_t most,
                                                  ThreadFilter* wanted) const {
  std::vector<uint32_t> order;
  for (uint32_t thread = 1; thread < states_.size(); ++thread) {
    if (states_[thread].was_seen && wanted->Keeps(thread)) {
      order.push_back(thread);
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return states_[a].highest_bytes > states_[b].highest_bytes;
  });
  if (order.size() > most) order.resize(most);
  return order;
}

ThreadCurves ThreadCurvesReplay::Result() const { return curves_; }

ThreadCurves CurvesOf(HeapHistory history) {
  const auto whole = [](const std::vector<double>& values) {
    std::vector<int64_t> bytes;
    for (const double value : values) {
      bytes.push_back(static_cast<int64_t>(
          std::clamp(value, 0.0, static_cast<double>(kMostBytes))));
    }
    return bytes;
  };
  ThreadCurves curves;
  for (const HeapHistory::Series& series : history.series) {
    ThreadCurve curve;
    curve.name = std::string(series.place.file);
    curve.bytes = whole(series.bytes);
    curve.errors = whole(series.errors);
    curves.threads.push_back(std::move(curve));
  }
  curves.other_bytes = whole(history.other_bytes);
  curves.time_us = std::move(history.time_us);
  return curves;
}

}  // namespace pymemrun
