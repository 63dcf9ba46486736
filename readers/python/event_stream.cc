#include "readers/python/event_stream.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "readers/python/heap_answers.h"

namespace pymemrun {

EventStream::EventStream(std::shared_ptr<const RunFile> file, EventKinds kinds)
    : file_(std::move(file)),
      kinds_(kinds),
      source_(file_.get()),
      steps_(&source_, StreamReader::Options(), this) {}

const Event* EventStream::Next() {
  if (reading_) {
    throw pybind11::value_error("the iterator is in use already");
  }
  while (next_ == events_.size() && !ended_) {
    events_.clear();
    next_ = 0;
    reading_ = true;
    const absl::Cleanup done = [this] { reading_ = false; };
    ended_ = true;  // also where the step raises
    if (kinds_.calls && !std::exchange(asked_threads_, true)) {
      threads_ = ThreadDrss::Read(ReadingOf(*file_), 0);
    }
    const absl::StatusOr<bool> more = steps_.Step();
    if (!more.ok()) file_->Raise(more.status());
    ended_ = !*more;
  }
  return next_ < events_.size() ? &events_[next_++] : nullptr;
}

void EventStream::OnHeader(const Header& header) {
  page_bytes_ = header.page_bytes();
}

bool EventStream::OnRows(const Row* rows, size_t count) {
  if (kinds_.calls) events_.insert(events_.end(), rows, rows + count);
  return true;
}

bool EventStream::OnPages(const PageEntry* entries, size_t count) {
  if (kinds_.pages) events_.insert(events_.end(), entries, entries + count);
  return true;
}

bool EventStream::OnHeap(const HeapEvent* events, size_t count) {
  if (!kinds_.heap) return true;
  for (size_t i = 0; i < count; ++i) {
    const bool has_weight =
        !events[i].is_free && events[i].allocator != HEAP_MREMAP;
    const double weight =
        has_weight ? weights_.WeightOf(rate_, events[i].size) : 0;
    events_.emplace_back(WeighedHeapEvent{events[i], weight});
  }
  return true;
}

bool EventStream::OnGil(const GilEvent* events, size_t count) {
  if (kinds_.gil) events_.insert(events_.end(), events, events + count);
  return true;
}

void EventStream::OnHeapRates(const HeapRates& rates) {
  rate_ = weights_.NumberOf(rates);
}

void EventStream::OnMark(const Mark& mark) {
  if (!kinds_.marks) return;
  events_.emplace_back(
      MarkEvent{mark.time_us(), mark.rss_bytes(), mark.thread(), mark.label()});
}

}  // namespace pymemrun
