#include "readers/answer/memory/held_timeline.h"

#include <algorithm>
#include <utility>

#include "readers/output/whole_number.h"

namespace pymemrun {
namespace {

// The most blocks and runs of pages read for all moments: some seconds.
constexpr uint64_t kMostLooks = uint64_t{1} << 24;

}  // namespace

bool HeapBeside::Heap::OnHeap(const HeapEvent* events, size_t count) {
  // A long batch comes in several pieces.
  held_.erase(held_.begin(), held_.begin() + static_cast<ptrdiff_t>(next_));
  next_ = 0;
  held_.insert(held_.end(), events, events + count);
  return true;
}

// Events are in order of time, so the first later one ends what is taken.
bool HeapBeside::Heap::TakeUntil(uint64_t time_us) {
  const auto begin = held_.begin() + static_cast<ptrdiff_t>(next_);
  const auto end = std::find_if(
      begin, held_.end(),
      [time_us](const HeapEvent& event) { return event.time_us > time_us; });
  if (end != begin) HeapReplay::OnHeap(&*begin, end - begin);
  next_ = end - held_.begin();
  return end == held_.end();
}

// A damaged file ends here without a message: the reader that this one
// accompanies reports it.
void HeapBeside::AdvanceTo(uint64_t time_us) {
  while (heap_.TakeUntil(time_us) && !at_end_) {
    const absl::StatusOr<bool> more = reader_.Step();
    at_end_ = !more.ok() || !*more;
  }
}

HeldTimelineReplay::HeldTimelineReplay(GroupBy by,
                                       std::vector<uint64_t> time_us,
                                       uint64_t peak_us, int fd,
                                       Hindsight hindsight)
    : TimelineReplay(by, time_us, hindsight),
      by_(by),
      moments_(time_us.size()),
      peak_us_(peak_us),
      beside_(fd, hindsight.waits) {}

// Moments may use up the looks evenly. One that comes too early is left out,
// but never the peak.
bool HeldTimelineReplay::IsWanted(uint64_t time_us) {
  ++asked_;
  return time_us == peak_us_ || looks_ <= kMostLooks / moments_ * asked_;
}

void HeldTimelineReplay::TakeValues(uint64_t time_us) {
  beside_.KnowThreads(index());
  beside_.AdvanceTo(time_us);
  const HeapReplay& heap = beside_.heap();
  looks_ += heap.model().blocks().size() + heap.model().sources().size() +
            model().pages().runs() + model().ranges().size();
  TakeSplit(SplitMemory(*this, &heap, static_cast<double>(model().RssBytes()),
                        by_, threads().any() ? &threads() : nullptr));
}

// The parts of RSS that no place holds become series of their own.
void HeldTimelineReplay::TakeSplit(const MemorySplit& split) {
  for (const PlaceHolding& holding : split.places) {
    if (holding.place == NamedPlace(kOtherThreads)) {
      AddOther(WholeNumber(holding.bytes));
    } else {
      AddPlace(holding.place, WholeNumber(holding.bytes));
    }
  }
  AddBefore(WholeNumber(split.before_bytes + split.since_fork_bytes));
  AddPart("free memory", WholeNumber(split.free_bytes));
  AddPart("stacks of threads", WholeNumber(split.stack_bytes));
  AddPart(kTracingItself, WholeNumber(split.tracing_bytes));
}

}  // namespace pymemrun
