#include "readers/python/heap_answers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"
#include "readers/places/place.h"
#include "readers/python/arguments.h"
#include "readers/replay/heap/heap_history.h"

namespace pymemrun {
namespace {

namespace py = pybind11;

// Later times are cut, so that microseconds fit in 64 bits.
constexpr double kMostSeconds = 1e12;

// Raises ValueError for an invalid time.
uint64_t MicrosecondsOf(const char* name, const py::object& seconds) {
  const double value = PyFloat_AsDouble(seconds.ptr());
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  // NaN is refused, too.
  if (!(value >= 0)) {
    throw py::value_error(
        absl::StrCat(name, ": expected seconds, found ", value));
  }
  return static_cast<uint64_t>(
      std::llround(std::min(value, kMostSeconds) * 1e6));
}

// A named moment, such as "peak", takes a reading of its own.
HeapMoment MomentOf(const RunFile& file, const py::object& at) {
  absl::StatusOr<Moment> moment = Moment{Moment::kTime};
  if (py::isinstance<py::str>(at)) {
    moment = ParseMoment(at.cast<std::string>());
  } else {
    moment->time_us = MicrosecondsOf("at", at);
  }
  const ReadRun read = ReadingOf(file);
  absl::StatusOr<HeapMoment> found =
      moment.ok() ? FindHeapMoment(*moment, read) : moment.status();
  if (found.ok()) return *std::move(found);
  throw py::value_error(absl::StrCat("at: ", found.status().message()));
}

GroupBy ByOf(const std::string& name) {
  const std::optional<GroupBy> by = ParseGroupBy(
      name, {GroupBy::kLine, GroupBy::kLibraryLine, GroupBy::kFunction,
             GroupBy::kFile, GroupBy::kThread, GroupBy::kAllocator,
             GroupBy::kModule, GroupBy::kStack});
  if (by.has_value()) return *by;
  throw py::value_error(
      absl::StrCat("by: expected line, library-line, function, file, thread, "
                   "allocator, module or stack, found \"",
                   name, "\""));
}

// Read() releases the GIL itself; Finish() may take long, too.
void ReadHeapEvents(const RunFile& file, HeapReplay* replay) {
  const ReadResult result = file.Read(replay);
  {
    const py::gil_scoped_release others_may_run;
    replay->Finish();
  }
  if (replay->has_heap_events()) return;
  throw py::value_error(absl::StrCat(file.shown_name(), ": ",
                                     result.has_header
                                         ? LackText(Recorded::kHeap)
                                         : UnreadText(Recorded::kHeap)));
}

// Whether rows are places with files; otherwise they are names.
bool HasPlaces(GroupBy by) { return HasLines(by) || by == GroupBy::kFile; }

// Estimates of frees may exceed those of allocations by rounding.
std::vector<double> NotNegative(std::vector<double> values) {
  for (double& value : values) value = std::max(value, 0.0);
  return values;
}

}  // namespace

// Read() raises a Python exception where other readers return false.
ReadRun ReadingOf(const RunFile& file) {
  return OneByOne([&file](ReplayVisitor* visitor) {
    file.Read(visitor);
    const py::gil_scoped_release others_may_run;
    visitor->Finish();
    return true;
  });
}

// Arguments are checked before the file is read.
py::object HeapHistoryOf(const RunFile& file, const py::object& interval_s,
                         int top, const std::string& by,
                         const py::object& from_s, const py::object& to_s) {
  HeapHistoryOptions options;
  options.by = ByOf(by);
  if (top < 0) throw py::value_error("top: expected 0 or more");
  if (!interval_s.is_none()) {
    options.interval_us = MicrosecondsOf("interval_s", interval_s);
    if (options.interval_us == 0) {
      throw py::value_error("interval_s: expected a microsecond or more");
    }
  }
  options.from_us = MicrosecondsOf("from_s", from_s);
  if (!to_s.is_none()) options.to_us = MicrosecondsOf("to_s", to_s);
  if (options.to_us < options.from_us) {
    throw py::value_error("to_s: expected a time after from_s");
  }
  HeapHistoryReplay replay(options);
  ReadHeapEvents(file, &replay);
  if (replay.too_many()) {
    throw py::value_error(
        "interval_s: too many moments for this run; give a longer one");
  }
  const Curves history = replay.Result({.top = static_cast<uint64_t>(top)});
  std::vector<double> seconds;
  for (const uint64_t time_us : history.time_us) {
    seconds.push_back(Seconds(time_us));
  }
  py::list rows, labels;
  for (const Series& series : history.chosen) {
    rows.append(FloatArray(NotNegative(series.values)));
    labels.append(PythonText(LabelOf(series.place)));
  }
  // Always there, so that the rows add up to all live bytes.
  rows.append(FloatArray(NotNegative(history.others.values)));
  labels.append("other");
  return RecordType("History").Make(FloatArray(seconds), rows, labels);
}

HeapSnapshot::HeapSnapshot(const RunFile& file, const py::object& at)
    : replay_(std::make_unique<HeapMoments>(
          std::vector<HeapMoment>{MomentOf(file, at)})) {
  ReadHeapEvents(file, replay_.get());
  sums_ = replay_->SumsAt(0);
  totals_ = TotalsOf(replay_->model(), sums_);
  rows_ = RowsBy(GroupBy::kLine);
}

// No reading: the sums of the moment are grouped anew.
py::list HeapSnapshot::RowsBy(GroupBy by) const {
  HeapRowsMaker maker(by);
  maker.Add(*replay_, sums_);
  HeapRows rows = maker.Take();
  SortByBytes(&rows.places);
  const bool has_places = HasPlaces(by);
  const RecordType type(has_places ? "PlaceRow" : "NameRow");
  PythonTexts texts;
  py::list list;
  for (const HeapRows::Row& row : rows.places) {
    const uint64_t bytes = WholeNumber(row.sums.bytes);
    const uint64_t count = WholeNumber(row.sums.count);
    const uint64_t error = WholeNumber(row.sums.BytesError());
    const py::str name = texts.Of(row.place.file);
    list.append(has_places ? type.Make(name, row.place.line,
                                       texts.Of(row.place.function), bytes,
                                       count, error)
                           : type.Make(name, bytes, count, error));
  }
  return list;
}

// One budget for all: written one by one, stacks repeat the frames that they
// share.
py::list HeapSnapshot::Stacks() const {
  const RecordType type("StackRow"), frame("Frame");
  PythonTexts texts;
  FrameBudget budget;
  py::list list;
  for (const size_t i : SourcesByBytes(replay_->model(), sums_)) {
    const HeapSource::Key& key = replay_->model().sources()[i].key;
    const RunIndex& index = replay_->index();
    list.append(type.Make(
        FramesOf(index, key.stack, frame, &texts, &budget),
        texts.Of(index.LatestThreadLabel(key.thread)),
        texts.Of(HeapAllocatorName(key.allocator)), WholeNumber(sums_[i].bytes),
        WholeNumber(sums_[i].count), WholeNumber(sums_[i].BytesError())));
  }
  return list;
}

py::list HeapTop(const RunFile& file, const std::string& by,
                 const py::object& limit, const py::object& at) {
  const GroupBy kind = ByOf(by);
  const uint64_t most = LimitOf(limit, 0);
  const py::list rows = HeapSnapshot(file, at).RowsBy(kind);
  if (most == 0) return rows;
  return rows[py::slice(0, most, 1)].cast<py::list>();
}

}  // namespace pymemrun
