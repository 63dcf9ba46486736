#include "readers/states/thread_times.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace pymemrun {
namespace {

constexpr size_t kFirstSleep = static_cast<size_t>(ThreadState::kGil);

size_t Place(ThreadState state) { return static_cast<size_t>(state); }

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
  explicit Parts(std::vector<GilPart> parts) : parts_(std::move(parts)) {
    const auto earlier = [](const GilPart& a, const GilPart& b) {
      return a.begin_ns < b.begin_ns;
    };
    std::sort(parts_.begin(), parts_.end(), earlier);
    uint64_t end = 0;
    for (GilPart& part : parts_) {
      part.begin_ns = std::max(part.begin_ns, end);
      part.end_ns = std::max(part.end_ns, part.begin_ns);
      end = part.end_ns;
    }
    inside_ns_.resize(parts_.size());
  }

  // How much of [begin, end) lies in parts, which is added up for each. Times
  // rise from call to call.
  uint64_t Take(uint64_t begin, uint64_t end) {
    while (first_ < parts_.size() && parts_[first_].end_ns <= begin) ++first_;
    uint64_t sum = 0;
    for (size_t i = first_; i < parts_.size() && parts_[i].begin_ns < end;
         ++i) {
      const uint64_t ns = std::min(end, parts_[i].end_ns) -
                          std::max(begin, parts_[i].begin_ns);
      inside_ns_[i] += ns;
      sum += ns;
    }
    return sum;
  }
  // Of what was taken in each part, at most what its pauses leave.
  uint64_t WithoutPauses() const {
    uint64_t sum = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const uint64_t long_ns = parts_[i].end_ns - parts_[i].begin_ns;
      sum += std::min(inside_ns_[i],
                      long_ns - std::min(long_ns, parts_[i].paused_ns));
    }
    return sum;
  }

 private:
  std::vector<GilPart> parts_;
  std::vector<uint64_t> inside_ns_;
  size_t first_ = 0;
};

void AddSleep(uint8_t code, uint64_t ns, uint64_t gil_ns, ThreadTimes* times) {
  const ThreadState state = SleepOf(code);
  times->ns[Place(ThreadState::kGil)] += gil_ns;
  times->ns[Place(state)] += ns - gil_ns;
  ++times->sleeps[2 * gil_ns > ns ? kFirstSleep : Place(state)];
  if (state != ThreadState::kOther) return;
  const size_t name = code - ThreadSteps::kOther;
  if (times->other_ns.size() <= name) times->other_ns.resize(name + 1);
  times->other_ns[name] += ns - gil_ns;
}

}  // namespace

uint64_t ThreadTimes::total_ns() const {
  return std::accumulate(ns.begin(), ns.end(), uint64_t{0});
}

ThreadTimes TimesOf(const ThreadSteps& steps, uint64_t end_ns,
                    std::vector<GilPart> holds, std::vector<GilPart> waits) {
  ThreadTimes times;
  Parts held(std::move(holds)), waited(std::move(waits));
  uint64_t runs_ns = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const uint64_t begin = steps.Time(i);
    const uint64_t end =
        i + 1 < steps.size() ? steps.Time(i + 1) : std::max(end_ns, begin);
    const uint8_t code = steps.CodeOf(i);
    switch (code) {
      case ThreadSteps::kGone:
        break;
      case ThreadSteps::kRuns:
        held.Take(begin, end);
        runs_ns += end - begin;
        break;
      case ThreadSteps::kRunnable:
        times.ns[Place(ThreadState::kRunnable)] += end - begin;
        break;
      default:
        AddSleep(code, end - begin, waited.Take(begin, end), &times);
    }
  }
  const uint64_t with_gil_ns = held.WithoutPauses();
  times.ns[Place(ThreadState::kRunsWithGil)] = with_gil_ns;
  times.ns[Place(ThreadState::kRuns)] = runs_ns - with_gil_ns;
  return times;
}

void MoveToRunnable(uint64_t ns, ThreadTimes* times) {
  const uint64_t sleeps = std::accumulate(
      times->sleeps.begin(), times->sleeps.end(), uint64_t{0});
  if (sleeps == 0) return;
  for (size_t state = kFirstSleep; state < kThreadStates; ++state) {
    const double part = static_cast<double>(ns) *
                        static_cast<double>(times->sleeps[state]) /
                        static_cast<double>(sleeps);
    const uint64_t moved =
        std::min(static_cast<uint64_t>(part), times->ns[state]);
    times->ns[state] -= moved;
    times->ns[Place(ThreadState::kRunnable)] += moved;
  }
}

}  // namespace pymemrun
