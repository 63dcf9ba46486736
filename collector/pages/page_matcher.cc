#include "collector/pages/page_matcher.h"

#include <algorithm>

#include "collector/definitions/mapping_table.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {
namespace {

// Longest time between two faults of one loop. Each fault may wait for a huge
// page and for a CPU.
constexpr uint64_t kLoopStepNs = 1000000000;

// A thread without a fault for this long has begun something else. It must be
// well above the usual distance: in a burst signals arrive after 0.1 to 0.3 ms.
// How many faults get no signal depends on what the kernel saw before the
// pause, so the halves are not equal there.
constexpr uint64_t kPauseNs = 2000000;

// Late items are late by a few places. More is possible only if a program
// forges times, and must not make insertion slow.
constexpr int kMaxPlacesBack = 1 << 14;

// At this many threads, forgets threads without waiting items that did nothing
// for kQuietNs: most have ended.
constexpr size_t kManyThreads = 1u << 9;
constexpr uint64_t kQuietNs = 1000000000;
// At this many threads, forgets all without waiting items.
constexpr size_t kMaxThreads = 1u << 14;

// Most requests for huge pages kept for a thread.
constexpr size_t kMostAsks = 64;

// Inserts at the place by time, searching from the end: nearly all items arrive
// in order. Items of equal time keep their order of arrival.
template <typename T, typename Sorted>
void InsertByTime(const T& item, Sorted* sorted) {
  auto at = sorted->end();
  for (int i = 0; i < kMaxPlacesBack && at != sorted->begin() &&
                  (at - 1)->time_ns > item.time_ns;
       ++i) {
    --at;
  }
  sorted->insert(at, item);
}

}  // namespace

PageMatcher::PageMatcher(uint32_t page_bytes)
    : page_bytes_(page_bytes), forget_at_(kManyThreads) {}

// Lower bound of the times of all that waits or will be added, except for
// stragglers. A straggler is an item whose time is below that of earlier
// output.
uint64_t PageMatcher::Settled() const {
  return samples_.empty() ? emitted_ns_ : samples_.front().time_ns;
}

// Removes touches and requests older than `time_ns`, and keeps the last of each
// as thread->last and thread->asked. Invariant: after DropOlder(t) for the
// oldest sample t, `last` and the front of `touches` are the two touches around
// it.
void PageMatcher::DropOlder(uint64_t time_ns, Thread* thread) {
  std::deque<PageTouch>& touches = thread->touches;
  while (!touches.empty() && touches.front().time_ns < time_ns) {
    thread->last = touches.front();
    thread->loop_ns = thread->last.time_ns;
    thread->since_last = 0;
    thread->resumed_ns = 0;
    touches.pop_front();
    --touches_;
  }
  std::vector<PageTouch>& asks = thread->asks;
  const auto younger = std::find_if(
      asks.begin(), asks.end(),
      [=](const PageTouch& ask) { return ask.time_ns >= time_ns; });
  if (younger == asks.begin()) return;
  thread->asked = *(younger - 1);
  asks.erase(asks.begin(), younger);
}

// Requests for huge pages are kept apart: they are no faults and take no share
// of the samples.
void PageMatcher::AddTouch(uint32_t thread_id, const PageTouch& touch) {
  if (threads_.size() >= forget_at_) ForgetThreads();
  Thread& thread = threads_[thread_id];
  DropOlder(Settled(), &thread);
  if (touch.asked_for_huge) {
    if (thread.asks.size() == kMostAsks) thread.asks.erase(thread.asks.begin());
    return InsertByTime(touch, &thread.asks);
  }
  InsertByTime(touch, &thread.touches);
  ++touches_;
}

void PageMatcher::AddSamples(const std::vector<PageSample>& samples) {
  for (const PageSample& sample : samples) {
    InsertByTime(sample, &samples_);
    Thread& thread = threads_[sample.thread];
    std::deque<uint64_t>& waiting = thread.waiting_ns;
    waiting.insert(
        std::upper_bound(waiting.begin(), waiting.end(), sample.time_ns),
        sample.time_ns);
    thread.newest_sample_ns = std::max(thread.newest_sample_ns, sample.time_ns);
  }
}

void PageMatcher::AddMark(const PageMark& mark) { InsertByTime(mark, &marks_); }

// A merge of two sorted queues. At equal times a mark comes first. If the
// oldest sample cannot be matched yet, everything behind it waits, marks too:
// output is in the order of time.
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
  // Raises Settled(), so that touches without waiting samples are dropped.
  if (complete_ns != UINT64_MAX) Step(complete_ns);
}

void PageMatcher::EmitMark(Output* out) {
  PageMark mark = marks_.front();
  marks_.pop_front();
  if (mark.kind == PageMark::kRange) {
    // A thread in a mapping call is not in a fault any more.
    const auto found = threads_.find(mark.thread);
    if (found != threads_.end()) {
      uint64_t& over_ns = found->second.fault_over_ns;
      over_ns = std::min(over_ns, mark.time_ns);
    }
  }
  mark.time_ns = Step(mark.time_ns);
  out->OnMark(mark);
}

// Emits the oldest sample, or returns false if its stack or the name of its
// thread is not known yet. A sample that waits holds back all younger output.
// So it stops waiting after kPatienceNs, or when more than kMaxWaiting items
// wait.
bool PageMatcher::EmitSample(uint64_t complete_ns, Output* out) {
  const PageSample sample = samples_.front();
  Thread& thread = threads_[sample.thread];
  DropOlder(sample.time_ns, &thread);
  const PageTouch* const next =
      thread.touches.empty() ? nullptr : &thread.touches.front();
  const bool exact = next != nullptr && !next->late &&
                     next->page == sample.address / page_bytes_;
  // Which of two touches is nearer is known only once all samples between them
  // were added. So an inexact match waits until the next touch is within
  // complete_ns.
  const bool found = exact || (next != nullptr && next->time_ns <= complete_ns);
  if (!found && waiting() <= kMaxWaiting &&
      complete_ns <= thread.newest_sample_ns + kPatienceNs) {
    return false;
  }
  if (waiting() <= kMaxWaiting &&
      complete_ns <= sample.time_ns + kNamePatienceNs &&
      !out->IsNamed(sample.thread)) {
    return false;
  }
  // The sample can be matched now, or there is no time or room to wait longer.
  const PageTouch& touch = exact ? *next : TouchOf(sample, &thread);
  if (sample.instruction == thread.last.instruction) {
    thread.loop_ns = sample.time_ns;
  }
  if (!thread.waiting_ns.empty()) thread.waiting_ns.pop_front();
  ++thread.since_last;
  thread.fault_began_ns = sample.time_ns;
  thread.fault_over_ns = exact ? touch.time_ns : UINT64_MAX;
  samples_.pop_front();
  const PageSpan brings = out->OnSample(
      {&sample, Step(sample.time_ns), touch.stack, !exact,
       touch.far_too && (exact || TellsOf(sample, touch)), touch.collecting});
  thread.fault = {sample.address, brings};
  return true;
}

// Whether the `far_too` of a touch also holds for this sample: same
// instruction, and the touch was at the start of its huge page, where a loop
// begins. Later touches of a loop find far pages that came one by one.
bool PageMatcher::TellsOf(const PageSample& sample,
                          const PageTouch& touch) const {
  return touch.instruction == sample.instruction &&
         touch.page % (HugePageBytes(page_bytes_) / page_bytes_) == 0;
}

// Whether the next touch of the thread is from its own code and not from a
// system call. Searches the waiting samples for the fault of the touch; the
// result is cached, as many samples ask about one touch.
bool PageMatcher::NextIsUsers(uint32_t thread_id, Thread* thread) const {
  const PageTouch& next = thread->touches.front();
  if (thread->looked_ns == next.time_ns) return thread->is_users;
  thread->looked_ns = next.time_ns;
  thread->is_users = false;
  for (const PageSample& sample : samples_) {
    if (sample.time_ns > next.time_ns) break;
    if (sample.thread != thread_id) continue;
    if (sample.address / page_bytes_ != next.page) continue;
    thread->is_users = sample.instruction < kKernelHalf;
  }
  return thread->is_users;
}

// Chooses between the two touches around a sample that has none of its own. The
// rules apply in this order: the request for a huge page, the side of a system
// call, the instruction, and at last the nearer touch by number.
const PageTouch& PageMatcher::TouchOf(const PageSample& sample,
                                      Thread* in) const {
  const Thread& thread = *in;
  // Code that fills memory from its start takes the fault of a huge page at the
  // first address.
  const bool at_begin =
      sample.address % HugePageBytes(page_bytes_) < page_bytes_;
  const bool huge = sample.huge.value_or(at_begin);
  const bool by_request = huge && thread.asked.time_ns > thread.last.time_ns;
  const PageTouch& last = by_request ? thread.asked : thread.last;
  if (thread.touches.empty()) return last;
  const PageTouch& next = thread.touches.front();
  if (last.stack == 0) return next;
  if (sample.instruction >= kKernelHalf) {
    // The signal of a system call comes after its faults, if at all. So samples
    // in the kernel belong to the next touch, if that is of a system call.
    // Otherwise the signal was lost. Then a fault of a huge page belongs to the
    // last touch, because few faults bring huge pages and many small ones
    // follow. The others are divided as usual.
    if (!NextIsUsers(sample.thread, in)) return next;
    return huge || IsNearerToLast(sample, in) ? last : next;
  }
  const bool next_fits = next.instruction == sample.instruction;
  if (by_request) return next_fits ? next : last;
  const bool last_fits = last.instruction == sample.instruction;
  const bool goes_on = sample.time_ns - thread.loop_ns <= kLoopStepNs;
  if (at_begin && goes_on && last_fits != next_fits) {
    return last_fits ? last : next;
  }
  return IsNearerToLast(sample, in) ? last : next;
}

// Whether the oldest sample of the thread belongs to the last touch rather than
// to the next one: whether fewer samples are between it and the last touch. The
// count is since_last + 1 on one side, and the waiting samples up to the next
// touch on the other.
bool PageMatcher::IsNearerToLast(const PageSample& sample, Thread* thread) {
  FindPause(thread);
  if (thread->resumed_ns != 0) return sample.time_ns < thread->resumed_ns;
  const std::deque<uint64_t>& waiting = thread->waiting_ns;
  const auto after = std::upper_bound(waiting.begin(), waiting.end(),
                                      thread->touches.front().time_ns);
  const auto until_next = static_cast<uint64_t>(after - waiting.begin());
  return thread->since_last + 1 <
         until_next - std::min<uint64_t>(until_next, 1);
}

// Sets resumed_ns to the end of the longest pause between the last touch and
// the next one, if it is long enough. Done once for each pair of touches
// (paused_before_ns).
void PageMatcher::FindPause(Thread* thread) {
  const uint64_t until_ns = thread->touches.front().time_ns;
  if (thread->paused_before_ns == until_ns) return;
  thread->paused_before_ns = until_ns;
  const bool is_first = thread->since_last == 0;
  uint64_t before_ns = is_first ? thread->last.time_ns : thread->fault_began_ns;
  uint64_t longest_ns = kPauseNs;
  for (const uint64_t sample_ns : thread->waiting_ns) {
    if (sample_ns > until_ns) break;
    if (sample_ns > before_ns + longest_ns) {
      longest_ns = sample_ns - before_ns;
      thread->resumed_ns = sample_ns;
    }
    before_ns = sample_ns;
  }
}

// Each thread has at most one fault at a time, its last one. Cost: linear in
// the number of threads.
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

// Returns a time that never decreases: stragglers get the time of the last
// output.
uint64_t PageMatcher::Step(uint64_t time_ns) {
  emitted_ns_ = std::max(emitted_ns_, time_ns);
  return emitted_ns_;
}

// Runs again only after the number of threads has doubled, so its total cost is
// linear.
void PageMatcher::ForgetThreads() {
  const bool are_too_many = threads_.size() >= kMaxThreads;
  for (auto it = threads_.begin(); it != threads_.end();) {
    DropOlder(Settled(), &it->second);
    const uint64_t quiet_ns = are_too_many ? 0 : kQuietNs;
    if (!it->second.touches.empty() || !it->second.asks.empty() ||
        it->second.newest_sample_ns + quiet_ns >= Settled()) {
      ++it;
    } else {
      threads_.erase(it++);
    }
  }
  forget_at_ = std::max(kManyThreads, 2 * threads_.size());
}

}  // namespace pymemrun
