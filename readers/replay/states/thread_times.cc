#include "readers/replay/states/thread_times.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pymemrun {
namespace {

ThreadState SleepOf(uint8_t code) {
  switch (code) {
    case ThreadSteps::kLock:
      return ThreadState::kLock;
    case ThreadSteps::kIo:
      return ThreadState::kIo;
    case ThreadSteps::kTimer:
      return ThreadState::kTimer;
    case ThreadSteps::kPageFault:
      return ThreadState::kPageFault;
    default:
      return ThreadState::kOther;
  }
}

// Parts one after the other, so that they can be walked beside the steps.
class Parts {
 public:
  static constexpr size_t kNone = ~size_t{0};

  // Sorted, and cut where they overlap, as in a damaged file.
  explicit Parts(std::vector<GilPart> parts) {
    const auto earlier = [](const GilPart& a, const GilPart& b) {
      return a.begin_ns < b.begin_ns;
    };
    std::sort(parts.begin(), parts.end(), earlier);
    uint64_t end = 0;
    for (GilPart& part : parts) {
      part.begin_ns = std::max(part.begin_ns, end);
      if (part.end_ns <= part.begin_ns) continue;
      parts_.push_back(part);
      end = part.end_ns;
    }
  }

  const GilPart& operator[](size_t part) const { return parts_[part]; }
  size_t size() const { return parts_.size(); }
  // Calls take(part, begin, end) for all pieces of [begin, end) in turn: those
  // in a part, and those in none. Times rise from call to call, or Rewind().
  template <typename Take>
  void Cut(uint64_t begin, uint64_t end, const Take& take) {
    while (first_ < size() && parts_[first_].end_ns <= begin) ++first_;
    for (size_t i = first_; begin < end; ++i) {
      const bool is_last = i == size() || parts_[i].begin_ns >= end;
      const uint64_t from = is_last ? end : std::max(begin, parts_[i].begin_ns);
      if (from > begin) take(kNone, begin, from);
      if (is_last) return;
      begin = std::min(end, parts_[i].end_ns);
      take(i, from, begin);
    }
  }
  void Rewind() { first_ = 0; }

 private:
  std::vector<GilPart> parts_;
  size_t first_ = 0;
};

// Spreads each hold's time with the GIL over the pieces in which the thread
// ran. During the pauses of a hold, at unknown times, the thread was without
// the GIL, and may have run.
class HeldTime {
 public:
  explicit HeldTime(size_t parts) : parts_(parts) {}

  void Measure(size_t part, uint64_t ns) { parts_[part].ran_ns += ns; }
  // For the next piece. REQUIRES: Measure() was called with all of them.
  uint64_t Take(size_t part, const GilPart& hold, uint64_t ns) {
    // The time held is spread in proportion to the time that ran. The sum so
    // far is rounded, not each piece: errors do not add up.
    Part& of = parts_[part];
    const uint64_t held_ns = std::min(of.ran_ns, hold.had_ns());
    of.passed_ns += ns;
    const auto sum = static_cast<uint64_t>(
        static_cast<unsigned __int128>(held_ns) * of.passed_ns / of.ran_ns);
    const uint64_t more = sum - of.given_ns;
    of.given_ns = sum;
    return more;
  }

 private:
  struct Part {
    uint64_t ran_ns = 0, passed_ns = 0, given_ns = 0;
  };
  std::vector<Part> parts_;
};

// The time at the ends of sleeps in which threads waited for a CPU. The
// scheduler counts it when it is over, as after a preemption.
class LateWakes {
 public:
  LateWakes(const ThreadSteps& steps,
            const std::vector<SchedReading>& readings);

  // For a sleep that ended then, at most. REQUIRES: times ascend from call to
  // call.
  uint64_t At(uint64_t end_ns) {
    while (next_ < parts_.size() && parts_[next_].until_ns < end_ns) ++next_;
    return next_ < parts_.size() ? parts_[next_].late_ns : 0;
  }

 private:
  struct Part {
    uint64_t until_ns, late_ns;
  };
  static uint64_t Share(std::vector<uint64_t>* sleeps, int64_t* left_ns);

  std::vector<Part> parts_;
  size_t next_ = 0;
};

// Threads are read one after the other, so a reading may have too much or too
// little. The difference is taken from the next one.
LateWakes::LateWakes(const ThreadSteps& steps,
                     const std::vector<SchedReading>& readings) {
  std::vector<uint64_t> sleeps;
  int64_t left_ns = 0;
  uint64_t counted_ns = 0;
  size_t step = 0;
  for (const SchedReading& reading : readings) {
    sleeps.clear();
    left_ns += static_cast<int64_t>(reading.runnable_ns - counted_ns);
    counted_ns = reading.runnable_ns;
    for (; step + 1 < steps.size() && steps.Time(step + 1) <= reading.time_ns;
         ++step) {
      const uint64_t ns = steps.Time(step + 1) - steps.Time(step);
      const uint8_t code = steps.CodeOf(step);
      // Switches show this waiting already: only the rest was at ends of
      // sleeps.
      if (code == ThreadSteps::kRunnable) {
        left_ns -= static_cast<int64_t>(ns);
      } else if (code != ThreadSteps::kRuns && code != ThreadSteps::kGone) {
        sleeps.push_back(ns);
      }
    }
    parts_.push_back({reading.time_ns, Share(&sleeps, &left_ns)});
  }
}

// Distributes the rest evenly: each sleep gets the same share, but no more than
// its length. Sleeps shorter than the share are taken first, and leave more for
// the others.
uint64_t LateWakes::Share(std::vector<uint64_t>* sleeps, int64_t* left_ns) {
  if (*left_ns <= 0) return 0;
  auto left = static_cast<uint64_t>(*left_ns);
  uint64_t share_ns = ~uint64_t{0};
  std::sort(sleeps->begin(), sleeps->end());
  for (size_t i = 0; i < sleeps->size(); ++i) {
    const size_t others = sleeps->size() - i;
    if ((*sleeps)[i] <= left / others) {
      left -= (*sleeps)[i];
      continue;
    }
    share_ns = left / others;
    left -= share_ns * others;
    break;
  }
  *left_ns = static_cast<int64_t>(left);
  return share_ns;
}

// Puts the steps, holds and waits of one thread together. Each list is passed
// over once or twice: linear time apart from sorting.
class SpanWalk {
 public:
  SpanWalk(const ThreadSteps& steps, uint64_t end_ns,
           std::vector<GilPart> holds, std::vector<GilPart> waits,
           const std::vector<SchedReading>& readings,
           absl::FunctionRef<void(const StateSpan&)> take)
      : steps_(steps),
        end_ns_(end_ns),
        holds_(std::move(holds)),
        waits_(std::move(waits)),
        held_(holds_.size()),
        late_(steps, readings),
        take_(take) {}

  void Walk();

 private:
  uint64_t EndOf(size_t step) const {
    return step + 1 < steps_.size() ? steps_.Time(step + 1)
                                    : std::max(end_ns_, steps_.Time(step));
  }
  void Sleep(size_t step);
  void Give(const StateSpan& span);

  const ThreadSteps& steps_;
  const uint64_t end_ns_;
  Parts holds_, waits_;
  HeldTime held_;
  LateWakes late_;
  absl::FunctionRef<void(const StateSpan&)> take_;
  StateSpan now_;  // it may go on
};

// Two passes over the steps: the first measures how long each hold ran, which
// the second needs to spread the hold's time.
void SpanWalk::Walk() {
  const auto measure = [&](size_t part, uint64_t begin, uint64_t end) {
    if (part != Parts::kNone) held_.Measure(part, end - begin);
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_.CodeOf(i) == ThreadSteps::kRuns) {
      holds_.Cut(steps_.Time(i), EndOf(i), measure);
    }
  }
  holds_.Rewind();
  const auto run = [&](size_t part, uint64_t begin, uint64_t end) {
    const uint64_t gil_ns =
        part == Parts::kNone ? 0 : held_.Take(part, holds_[part], end - begin);
    Give({begin, end,
          2 * gil_ns > end - begin ? ThreadState::kRunsWithGil
                                   : ThreadState::kRuns,
          gil_ns});
  };
  for (size_t i = 0; i < steps_.size(); ++i) {
    const uint8_t code = steps_.CodeOf(i);
    if (code == ThreadSteps::kRuns) {
      holds_.Cut(steps_.Time(i), EndOf(i), run);
    } else if (code == ThreadSteps::kRunnable) {
      Give({steps_.Time(i), EndOf(i), ThreadState::kRunnable});
    } else if (code != ThreadSteps::kGone) {
      Sleep(i);
    }
  }
  if (now_.long_ns() > 0) take_(now_);
}

void SpanWalk::Sleep(size_t step) {
  const uint8_t code = steps_.CodeOf(step);
  const uint64_t begin = steps_.Time(step), end = EndOf(step);
  // The last step has not ended: its end is unknown.
  const uint64_t late_ns = step + 1 < steps_.size() ? late_.At(end) : 0;
  const uint64_t awake = end - std::min(end - begin, late_ns);
  waits_.Cut(begin, awake, [&](size_t part, uint64_t from, uint64_t to) {
    StateSpan span{from, to,
                   part == Parts::kNone ? SleepOf(code) : ThreadState::kGil};
    if (span.state == ThreadState::kOther) {
      span.other = static_cast<uint8_t>(code - ThreadSteps::kOther);
    }
    Give(span);
  });
  StateSpan late{awake, end, ThreadState::kRunnable};
  late.is_estimated = true;
  Give(late);
}

// Joins spans that continue in the same state.
void SpanWalk::Give(const StateSpan& span) {
  if (span.long_ns() == 0) return;
  const bool goes_on = now_.end_ns == span.begin_ns &&
                       now_.state == span.state && now_.other == span.other &&
                       now_.is_estimated == span.is_estimated;
  if (now_.long_ns() > 0 && goes_on) {
    now_.end_ns = span.end_ns;
    now_.gil_ns += span.gil_ns;
    return;
  }
  if (now_.long_ns() > 0) take_(now_);
  now_ = span;
}

// The amount of such a time that belongs to the range. Those of ranges side by
// side add up.
uint64_t ShareWithin(const TimeRange& range, uint64_t amount, uint64_t from_ns,
                     uint64_t to_ns) {
  const auto until = [=](uint64_t time_ns) {
    return TimeRange{0, time_ns}.ShareOf(amount, from_ns, to_ns);
  };
  return until(range.end_ns) - until(range.begin_ns);
}

// How much of the parts is in each span. The first one and the last one have
// what is beyond them.
std::vector<uint64_t> GilNanos(std::vector<GilPart> given,
                               const std::vector<CountedSpan>& spans) {
  Parts parts(std::move(given));
  std::vector<uint64_t> ns(spans.size());
  for (size_t i = 0; i < spans.size(); ++i) {
    const uint64_t begin = i == 0 ? 0 : spans[i].begin_ns;
    const uint64_t end = i + 1 == spans.size() ? ~uint64_t{0} : spans[i].end_ns;
    parts.Cut(begin, end, [&](size_t part, uint64_t from, uint64_t to) {
      if (part == Parts::kNone) return;
      const GilPart& of = parts[part];
      ns[i] += ShareWithin({from, to}, of.had_ns(), of.begin_ns, of.end_ns);
    });
  }
  return ns;
}

// Puts the amounts where there is room, see CountedSpans(). The room is left.
void Fit(std::vector<uint64_t>* amounts, std::vector<uint64_t>* room) {
  uint64_t more = 0;
  const auto put = [&](size_t i) {
    const uint64_t here = std::min(more, (*room)[i]);
    more -= here;
    (*room)[i] -= here;
    (*amounts)[i] += here;
  };
  for (size_t i = 0; i < amounts->size(); ++i) {
    more += std::exchange((*amounts)[i], 0);
    put(i);
  }
  for (size_t i = amounts->size(); i > 0; --i) put(i - 1);
}

}  // namespace

bool ThreadTimes::Add(StateSpan span, const TimeRange& range) {
  span.gil_ns = ShareWithin(range, span.gil_ns, span.begin_ns, span.end_ns);
  span.begin_ns = range.Clamp(span.begin_ns);
  span.end_ns = range.Clamp(span.end_ns);
  if (span.long_ns() == 0) return false;
  switch (span.state) {
    case ThreadState::kRunsWithGil:
    case ThreadState::kRuns:
      ns[NumberOf(ThreadState::kRunsWithGil)] += span.gil_ns;
      ns[NumberOf(ThreadState::kRuns)] += span.long_ns() - span.gil_ns;
      return true;
    case ThreadState::kOther:
      if (other_ns.size() <= span.other) other_ns.resize(span.other + 1);
      other_ns[span.other] += span.long_ns();
      break;
    default:
      break;
  }
  if (span.state != ThreadState::kRunnable) ++sleeps[NumberOf(span.state)];
  ns[NumberOf(span.state)] += span.long_ns();
  return true;
}

// One after the other, so that rounding adds nothing and loses nothing.
void ThreadTimes::Add(const CountedSpan& span, const TimeRange& range) {
  uint64_t sum_ns = 0, given_ns = 0;
  for (size_t i = 0; i < kThreadStates; ++i) {
    sum_ns += span.ns[i];
    const uint64_t share_ns =
        ShareWithin(range, sum_ns, span.begin_ns, span.end_ns);
    ns[i] += share_ns - std::exchange(given_ns, share_ns);
  }
}

uint64_t ThreadTimes::total_ns() const {
  return std::accumulate(ns.begin(), ns.end(), uint64_t{0});
}

void EachSpan(const ThreadSteps& steps, uint64_t end_ns,
              std::vector<GilPart> holds, std::vector<GilPart> waits,
              const std::vector<SchedReading>& readings,
              absl::FunctionRef<void(const StateSpan&)> take) {
  SpanWalk(steps, end_ns, std::move(holds), std::move(waits), readings, take)
      .Walk();
}

std::vector<CountedSpan> CountedSpans(const std::vector<SchedReading>& readings,
                                      uint64_t first_ns, uint64_t end_ns,
                                      std::vector<GilPart> holds,
                                      std::vector<GilPart> waits) {
  std::vector<CountedSpan> spans;
  std::vector<uint64_t> ran, wanted, rest;
  SchedReading last = {std::min(first_ns, end_ns), 0};
  const auto add = [&](uint64_t until_ns, const SchedReading& to) {
    until_ns = std::clamp(until_ns, last.time_ns, end_ns);
    spans.push_back({std::exchange(last.time_ns, until_ns), until_ns});
    rest.push_back(spans.back().long_ns());
    ran.push_back(to.run_ns - last.run_ns);
    wanted.push_back(to.runnable_ns - last.runnable_ns);
    last.run_ns = to.run_ns;
    last.runnable_ns = to.runnable_ns;
  };
  for (const SchedReading& reading : readings) {
    if (reading.since_ns > last.time_ns) add(reading.since_ns, last);
    add(reading.time_ns, reading);
  }
  add(end_ns, last);
  Fit(&ran, &rest);
  Fit(&wanted, &rest);
  std::vector<uint64_t> held = GilNanos(std::move(holds), spans);
  std::vector<uint64_t> waited = GilNanos(std::move(waits), spans);
  Fit(&held, &ran);
  Fit(&waited, &rest);
  for (size_t i = 0; i < spans.size(); ++i) {
    StateNanos& ns = spans[i].ns;
    ns[NumberOf(ThreadState::kRunsWithGil)] = held[i];
    ns[NumberOf(ThreadState::kRuns)] = ran[i];
    ns[NumberOf(ThreadState::kRunnable)] = wanted[i];
    ns[NumberOf(ThreadState::kGil)] = waited[i];
    ns[NumberOf(ThreadState::kOther)] = rest[i];
  }
  return spans;
}

}  // namespace pymemrun
