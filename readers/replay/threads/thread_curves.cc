#include "readers/replay/threads/thread_curves.h"

#include <algorithm>
#include <cmath>

#include "readers/replay/threads/thread_replay.h"

namespace pymemrun {

ThreadCurvesReplay::ThreadCurvesReplay(GrowthBy by,
                                       std::vector<uint64_t> time_us,
                                       Hindsight hindsight)
    : ResidentReplay(kEnd, std::move(hindsight)), by_(by) {
  curves_.time_us = std::move(time_us);
}

void ThreadCurvesReplay::OnHeader(const Header& header) {
  ResidentReplay::OnHeader(header);
  profile_.SetHeader(header);
}

bool ThreadCurvesReplay::OnRows(const Row* rows, size_t count) {
  any_row_ |= count > 0;
  for (size_t i = 0; by_ == GrowthBy::kEvents && i < count; ++i) {
    const Row& row = rows[i];
    // Before the row counts, moments before it get their values.
    PassTo(row.time_us);
    profile_.Add(row, index());
    if (row.context || row.thread >= profile_.threads().size()) continue;
    Set(row.thread, row.time_us, row.stack,
        static_cast<double>(profile_.threads()[row.thread].net_bytes()));
  }
  return true;
}

void ThreadCurvesReplay::OnPause(const Pause& pause) { profile_.Add(pause); }

void ThreadCurvesReplay::OnChanged(const PageOwner& by, int64_t bytes) {
  if (by_ != GrowthBy::kFaults || now_us() == 0) return;
  // The thread's net bytes so far.
  const double before =
      by.thread < states_.size() ? states_[by.thread].net_bytes : 0;
  Set(by.thread, now_us(), by.stack, before + static_cast<double>(bytes));
}

// Sets the thread's net bytes, and notes its highest point.
void ThreadCurvesReplay::Set(uint32_t thread, uint64_t time_us, uint32_t stack,
                             double bytes) {
  // A thread that did not fit in the index counts as no thread.
  if (thread == 0 || thread > index().threads()) return;
  if (thread >= states_.size()) states_.resize(index().threads() + 1);
  State& state = states_[thread];
  state.net_bytes = bytes;
  state.was_seen = true;
  // After the last moment nothing is shown.
  const bool is_over = curves_.others.values.size() >= curves_.time_us.size();
  if (!is_over && time_us >= curves_.time_us.front() &&
      bytes > state.high.bytes) {
    state.high = {time_us, bytes, stack};
  }
}

// Nothing changes until `time_us`: all moments before it have the present
// values.
void ThreadCurvesReplay::PassTo(uint64_t time_us) {
  const std::vector<uint64_t>& moments = curves_.time_us;
  for (size_t next = curves_.others.values.size();
       next < moments.size() && moments[next] < time_us; ++next) {
    TakeValues();
  }
}

void ThreadCurvesReplay::TakeValues() {
  const size_t moment = curves_.others.values.size();
  curves_.others.values.push_back(0);
  values_.resize(std::min(states_.size(), kMaxThreads));
  for (size_t thread = 0; thread < states_.size(); ++thread) {
    State& state = states_[thread];
    // Changes before the first moment are not shown.
    if (moment == 0) {
      state.high = {curves_.time_us[0], std::max(state.net_bytes, 0.0), 0};
    }
    if (state.net_bytes == 0) continue;
    if (thread >= values_.size()) {
      curves_.others.values.back() += state.net_bytes;
      continue;
    }
    // Missing values are 0: the row is as long as its last value needs.
    values_[thread].resize(moment + 1);
    values_[thread].back() = state.net_bytes;
  }
  // For the pages that are resident at that moment.
  if (by_ == GrowthBy::kFaults && model().sampled()) {
    variances_.push_back(VariancesByThread(model()));
  }
}

void ThreadCurvesReplay::Finish() {
  ResidentReplay::Finish();
  PassTo(kEnd);
}

std::vector<double> ThreadCurvesReplay::ErrorsOf(size_t thread) const {
  std::vector<double> errors;
  for (const std::vector<double>& of_threads : variances_) {
    errors.push_back(thread < of_threads.size() ? std::sqrt(of_threads[thread])
                                                : 0);
  }
  return errors;
}

// Threads are ranked by their highest point: a thread that grew and shrank
// again is as interesting as one that kept its memory.
ThreadCurves ThreadCurvesReplay::Result(size_t top,
                                        ThreadFilter* wanted) const {
  std::vector<size_t> order;
  size_t seen = 0;
  // Threads without a change are not counted as others.
  for (size_t thread = 1; thread < states_.size(); ++thread) {
    if (!states_[thread].was_seen) continue;
    ++seen;
    if (thread < values_.size() && wanted->Keeps(thread)) {
      order.push_back(thread);
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return states_[a].high.bytes > states_[b].high.bytes;
  });
  if (order.size() > top) order.resize(top);
  ThreadCurves result;
  result.curves = curves_;
  result.others = seen - order.size();
  std::deque<Place> labels(values_.size());
  for (const size_t thread : order) {
    labels[thread] = NamedPlace(index().ThreadLabel(thread));
    result.highs.push_back(states_[thread].high);
  }
  AddSeries(values_, labels, order, &result.curves);
  for (size_t i = 0; i < order.size(); ++i) {
    result.curves.chosen[i].errors = ErrorsOf(order[i]);
  }
  return result;
}

}  // namespace pymemrun
