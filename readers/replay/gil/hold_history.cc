#include "readers/replay/gil/hold_history.h"

#include <algorithm>

namespace pymemrun {

// Goes back from the latest hold until one starts before the interval. When a
// hold paused is unknown, so pauses are subtracted from the part within it.
uint64_t HoldHistory::EachIn(
    uint64_t begin, uint64_t end, uint64_t paused_ns,
    absl::FunctionRef<void(const GilSpan&, uint64_t)> take) const {
  for (uint64_t i = next_; i > 0 && next_ - i < kMost; --i) {
    const GilSpan& span = spans_[(i - 1) % kMost];
    if (span.end_ns <= begin) return 0;
    const uint64_t from = std::max(begin, span.begin_ns);
    const uint64_t to = std::min(end, span.end_ns);
    if (to > from) {
      uint64_t paused = span.paused_ns;
      // Those before `begin` are known: the wait's first event had their sum.
      if (span.begin_ns < begin) paused -= std::min(paused, paused_ns);
      take(span, to - from - std::min(to - from, paused));
    }
    if (span.begin_ns <= begin) return 0;
    if (next_ - i + 1 == kMost || i == 1) {
      // Before the first hold no thread had it.
      return i == 1 ? 0 : std::min(end, span.begin_ns) - begin;
    }
  }
  return 0;
}

namespace {

void Add(uint64_t paused_ns, uint64_t stood_ns, StopSums* sums) {
  ++sums->stops;
  sums->paused_ns += paused_ns;
  sums->longest_ns = std::max(sums->longest_ns, paused_ns);
  sums->stood_ns += stood_ns;
}

}  // namespace

// Returns the thread's pause at that time. A wait that starts after the last
// pause's end starts another pause.
WorldStops::Pause& WorldStops::PauseOf(uint32_t thread, uint64_t begin_ns) {
  if (thread >= pauses_.size()) pauses_.resize(thread + 1);
  Pause& pause = pauses_[thread];
  if (pause.any && begin_ns >= pause.end_ns && pause.stood_ns > 0) {
    Close(thread, &pause);
  }
  if (!pause.any) pause.begin_ns = pause.end_ns = begin_ns;
  pause.any = true;
  pause.begin_ns = std::min(pause.begin_ns, begin_ns);
  return pause;
}

// CPython's stop_the_world() in Python/pystate.c asks again every millisecond
// until all threads are stopped.
void WorldStops::Ask(uint32_t thread, uint64_t time_ns) {
  PauseOf(thread, time_ns);
}

void WorldStops::Stopped(uint32_t thread, uint64_t time_ns) {
  Pause& pause = PauseOf(thread, time_ns);
  pause.end_ns = std::max(pause.end_ns, time_ns);
}

void WorldStops::Stood(uint32_t by, uint64_t begin_ns, uint64_t end_ns,
                       const GilPlace& place) {
  Pause& pause = PauseOf(by, begin_ns);
  pause.end_ns = std::max(pause.end_ns, end_ns);
  pause.stood_ns += end_ns - begin_ns;
  if (place.stack != 0) pause.place = place;
}

// A pause is charged to the place where the thread let the others go on: only
// there its stack is recorded.
void WorldStops::Close(uint32_t thread, Pause* pause) {
  const uint64_t paused_ns = pause->end_ns - pause->begin_ns;
  Add(paused_ns, pause->stood_ns, &sums_[{thread, pause->place}]);
  Add(paused_ns, pause->stood_ns, &all_);
  *pause = {};
}

void WorldStops::Finish() {
  for (uint32_t thread = 0; thread < pauses_.size(); ++thread) {
    if (pauses_[thread].any) Close(thread, &pauses_[thread]);
  }
}

}  // namespace pymemrun
