#include "readers/python/event_records.h"

#include <string>
#include <utility>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "readers/python/heap_answers.h"
#include "readers/replay/heap/heap_places.h"
#include "readers/replay/rows/side_cells.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

void AddKind(const std::string& name, EventKinds* kinds) {
  if (name == "calls") {
    kinds->calls = true;
  } else if (name == "marks") {
    kinds->marks = true;
  } else if (name == "pages") {
    kinds->pages = true;
  } else if (name == "heap") {
    kinds->heap = true;
  } else if (name == "gil") {
    kinds->gil = true;
  } else {
    throw py::value_error(absl::StrCat(
        "kinds: expected calls, marks, pages, heap or gil, found '", name,
        "'"));
  }
}

}  // namespace

// A str is an iterable of letters, so it is split first.
EventKinds EventKindsOf(py::handle names) {
  if (names.is_none()) return {true, true, true, true, true};
  EventKinds kinds;
  const bool is_text = py::isinstance<py::str>(names);
  const py::object list = is_text ? names.attr("split")(",")
                                  : py::reinterpret_borrow<py::object>(names);
  for (const py::handle name : list) {
    AddKind(py::str(name).cast<std::string>(), &kinds);
  }
  return kinds;
}

EventRecords::EventRecords(std::shared_ptr<const RunFile> file,
                           EventKinds kinds)
    : stream_(std::move(file), kinds) {}

py::object EventRecords::Next() {
  const Event* const event = stream_.Next();
  if (event == nullptr) throw py::stop_iteration();
  return std::visit([this](const auto& of) { return RecordOf(of); }, *event);
}

py::str EventRecords::ThreadOf(uint32_t thread) {
  return texts_.Of(stream_.index().ThreadLabel(thread));
}

// Fields of a call are None in rows that are not the end of a recorded call.
py::object EventRecords::RecordOf(const Row& row) {
  const py::object none = py::none();
  const SourceLocation place = stream_.index().Resolve(row.site);
  RowDrss* const threads = stream_.threads();
  const bool has_call = row.call_events != 0;
  return row_.Make(
      row.number, Seconds(row.time_us), texts_.Of(place.what),
      texts_.Of(place.file), place.line, texts_.Of(place.function),
      row.rss_bytes, row.drss_bytes, ThreadOf(row.thread), row.context,
      texts_.Of(place.module), row.exact, row.stack,
      threads != nullptr ? py::cast(threads->Take(row)) : none,
      has_call ? py::cast(row.number - row.call_events) : none,
      has_call ? py::cast(Seconds(row.call_us)) : none,
      has_call ? py::cast(row.call_drss) : none,
      has_call && threads != nullptr ? py::cast(threads->OfCall(row)) : none);
}

// Unmap if a part of a mapping was released or moved, otherwise Free or
// Allocation.
py::object EventRecords::RecordOf(const WeighedHeapEvent& heap) {
  const HeapEvent& event = heap.event;
  if (event.free_of != HeapFreeOf::kBlock) {
    return unmap_.Make(Seconds(event.time_us), event.address, event.size,
                       event.free_of == HeapFreeOf::kMovedRange,
                       ThreadOf(event.thread));
  }
  if (event.is_free) {
    return free_.Make(Seconds(event.time_us), event.address,
                      ThreadOf(event.thread));
  }
  // `code` is the mapping of the C code that allocated.
  const absl::string_view module =
      event.code == 0 ? "" : stream_.index().MappingName(event.code);
  return allocation_.Make(
      Seconds(event.time_us), event.address, event.size, heap.weight,
      texts_.Of(HeapAllocatorName(event.allocator)), ThreadOf(event.thread),
      event.stack, texts_.Of(module));
}

py::object EventRecords::RecordOf(const PageEntry& entry) {
  const uint64_t page_bytes = stream_.page_bytes();
  return page_.Make(Seconds(entry.time_us), entry.page * page_bytes,
                    entry.pages, texts_.Of(ActionName(entry.action)),
                    ThreadOf(entry.thread), entry.stack, entry.inferred,
                    entry.weight);
}

// Fields that an action does not have are None, see HasHold() and HasBy().
py::object EventRecords::RecordOf(const GilEvent& event) {
  const py::object none = py::none();
  const bool has_hold = HasHold(event.action);
  const auto seconds = [](uint64_t ns) {
    return py::cast(static_cast<double>(ns) / 1e9);
  };
  return gil_.Make(
      static_cast<double>(event.time_ns) / 1e9,
      texts_.Of(GilActionName(event.action)), ThreadOf(event.thread),
      IsOfLocks(event.action) ? none : py::cast(event.gil), event.stack,
      has_hold ? seconds(event.free_ns) : none,
      has_hold ? py::cast(event.pauses) : none,
      has_hold ? seconds(event.paused_ns) : none,
      HasBy(event.action) && event.by != 0 ? py::object(ThreadOf(event.by))
                                           : none);
}

py::object EventRecords::RecordOf(const MarkEvent& mark) {
  return mark_.Make(Seconds(mark.time_us), PythonText(mark.label),
                    ThreadOf(mark.thread), mark.rss_bytes);
}

EventStream::EventStream(std::shared_ptr<const RunFile> file, EventKinds kinds)
    : file_(std::move(file)),
      kinds_(kinds),
      source_(file_.get()),
      steps_(&source_, StreamReader::Options(), this) {}

// Steps through records until one has events of the wanted kinds. A record's
// events are kept until they are returned: memory is that of one batch.
const Event* EventStream::Next() {
  if (reading_) {
    throw pybind11::value_error("the iterator is in use already");
  }
  while (next_ == events_.size() && !ended_) {
    events_.clear();
    next_ = 0;
    reading_ = true;
    const absl::Cleanup done = [this] { reading_ = false; };
    ended_ = true;  // even if the step raises
    // Page events may follow the rows of their time, so these need a whole
    // reading before the first row.
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
    // A moved range has the weight of the old one, which is not known here.
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
