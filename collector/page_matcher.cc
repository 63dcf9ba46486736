#include "collector/page_matcher.h"

#include <algorithm>

namespace pymemrun {
namespace {

// What fills memory from its begin on takes a huge page's fault at its begin.
constexpr uint64_t kHugeBytes = uint64_t{2} << 20;

// A loop is thought to go on where no more lies between two of its faults. Each
// may have to wait for its huge page and for a CPU.
constexpr uint64_t kLoopStepNs = 1000000000;

// Whoever has waited longer is not in a fault, but lost its signal.
constexpr uint64_t kLongestFaultNs = 200000000;

// What comes late does so by a few places; by more only from a program that
// forges times, and must not take the longer the more there is.
constexpr int kMaxPlacesBack = 1 << 14;

template <typename T>
void InsertByTime(const T& item, std::deque<T>* sorted) {
  auto at = sorted->end();
  for (int i = 0; i < kMaxPlacesBack && at != sorted->begin() &&
                  (at - 1)->time_ns > item.time_ns;
       ++i) {
    --at;
  }
  sorted->insert(at, item);
}

}  // namespace

// Nothing that waits, or is yet to come, is older; but for stragglers.
uint64_t PageMatcher::Settled() const {
  return samples_.empty() ? emitted_ns_ : samples_.front().time_ns;
}

void PageMatcher::DropOlder(uint64_t time_ns, Thread* thread) {
  std::deque<PageTouch>& touches = thread->touches;
  while (!touches.empty() && touches.front().time_ns < time_ns) {
    thread->last = touches.front();
    thread->loop_ns = thread->last.time_ns;
    touches.pop_front();
    --touches_;
  }
}

void PageMatcher::AddTouch(uint32_t thread_id, const PageTouch& touch) {
  if (threads_.size() >= forget_at_) ForgetThreads();
  Thread& thread = threads_[thread_id];
  DropOlder(Settled(), &thread);
  InsertByTime(touch, &thread.touches);
  ++touches_;
}

void PageMatcher::AddSamples(const std::vector<PageSample>& samples) {
  for (const PageSample& sample : samples) {
    InsertByTime(sample, &samples_);
    uint64_t& newest = threads_[sample.thread].newest_sample_ns;
    newest = std::max(newest, sample.time_ns);
  }
}

void PageMatcher::AddMark(const PageMark& mark) { InsertByTime(mark, &marks_); }

void PageMatcher::Emit(uint64_t complete_ns, Output* out) {
  while (true) {
    const uint64_t sample_ns =
        samples_.empty() ? UINT64_MAX : samples_.front().time_ns;
    const uint64_t mark_ns =
        marks_.empty() ? UINT64_MAX : marks_.front().time_ns;
    if (std::min(sample_ns, mark_ns) > complete_ns) break;
    if (samples_.empty() && marks_.empty()) break;
    if (!marks_.empty() && mark_ns <= sample_ns) {
      EmitMark(out);
    } else if (!EmitSample(complete_ns, out)) {
      return;
    }
  }
  // So that touches which no sample waits for can go.
  if (complete_ns != UINT64_MAX) Step(complete_ns);
}

void PageMatcher::EmitMark(Output* out) {
  PageMark mark = marks_.front();
  marks_.pop_front();
  if (mark.kind == PageMark::kRange) {
    // Its thread is in a call, and no longer in a fault.
    const auto found = threads_.find(mark.thread);
    if (found != threads_.end()) {
      uint64_t& over_ns = found->second.fault_over_ns;
      over_ns = std::min(over_ns, mark.time_ns);
    }
  }
  mark.time_ns = Step(mark.time_ns);
  out->OnMark(mark);
}

bool PageMatcher::EmitSample(uint64_t complete_ns, Output* out) {
  const PageSample sample = samples_.front();
  Thread& thread = threads_[sample.thread];
  DropOlder(sample.time_ns, &thread);
  const bool found = !thread.touches.empty();
  if (!found && waiting() <= kMaxWaiting &&
      complete_ns <= thread.newest_sample_ns + kPatienceNs) {
    return false;
  }
  if (waiting() <= kMaxWaiting &&
      complete_ns <= sample.time_ns + kNamePatienceNs &&
      !out->IsNamed(sample.thread)) {
    return false;
  }
  const PageTouch& touch = TouchOf(sample, thread);
  const bool exact =
      found && !touch.late && touch.page == sample.address / page_bytes_;
  if (sample.instruction == thread.last.instruction) {
    thread.loop_ns = sample.time_ns;
  }
  thread.fault_began_ns = sample.time_ns;
  thread.fault_over_ns = exact ? touch.time_ns : UINT64_MAX;
  samples_.pop_front();
  const PageSpan brings =
      out->OnSample({&sample, Step(sample.time_ns), touch.stack, !exact,
                     touch.far_too && touch.instruction == sample.instruction});
  thread.fault = {sample.address, brings};
  return true;
}

const PageTouch& PageMatcher::TouchOf(const PageSample& sample,
                                      const Thread& thread) const {
  if (thread.touches.empty()) return thread.last;
  const PageTouch& next = thread.touches.front();
  const bool may_be_huge = sample.address % kHugeBytes < page_bytes_;
  const bool last_fits = may_be_huge && thread.last.stack != 0 &&
                         thread.last.instruction == sample.instruction &&
                         sample.time_ns - thread.loop_ns <= kLoopStepNs;
  const bool next_fits = next.instruction == sample.instruction ||
                         next.page == sample.address / page_bytes_;
  return last_fits && !next_fits ? thread.last : next;
}

std::vector<FaultUnderWay> PageMatcher::FaultsUnderWay(uint64_t time_ns) const {
  std::vector<FaultUnderWay> faults;
  for (const auto& [id, thread] : threads_) {
    if (thread.fault_over_ns > time_ns &&
        thread.fault_began_ns + kLongestFaultNs > time_ns) {
      faults.push_back(thread.fault);
    }
  }
  return faults;
}

uint64_t PageMatcher::Step(uint64_t time_ns) {
  emitted_ns_ = std::max(emitted_ns_, time_ns);
  return emitted_ns_;
}

void PageMatcher::ForgetThreads() {
  for (auto it = threads_.begin(); it != threads_.end();) {
    DropOlder(Settled(), &it->second);
    const bool waits =
        !it->second.touches.empty() || it->second.newest_sample_ns >= Settled();
    if (waits) {
      ++it;
    } else {
      threads_.erase(it++);
    }
  }
  forget_at_ = std::max(kMaxThreads, 2 * threads_.size());
}

}  // namespace pymemrun
