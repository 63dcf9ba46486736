// The iterator returned by Run.events().
#ifndef PYMEMRUN_READERS_PYTHON_EVENT_RECORDS_H_
#define PYMEMRUN_READERS_PYTHON_EVENT_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "format/records/read_steps.h"
#include "pybind11/pybind11.h"
#include "readers/python/python_values.h"
#include "readers/python/run_file.h"
#include "readers/replay/heap/heap_weights.h"
#include "readers/replay/threads/thread_drss.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// The kinds of events to return.
struct EventKinds {
  bool calls = false, marks = false, pages = false, heap = false, gil = false;
};

// A heap event, and how many of its kind it stands for.
struct WeighedHeapEvent {
  HeapEvent event;
  double weight;  // of an allocation
};
// A mark of the program. Ids are those of the run file.
struct MarkEvent {
  uint64_t time_us, rss_bytes;
  uint32_t thread;
  std::string label;
};
using Event =
    std::variant<Row, WeighedHeapEvent, PageEntry, MarkEvent, GilEvent>;

// Reads events in the order of the file, one by one. Not thread safe.
class EventStream final : public IndexingVisitor {
 public:
  EventStream(std::shared_ptr<const RunFile> file, EventKinds kinds);
  // Returns the next event, valid until the next call; null after the last one.
  // Raises as RunFile::Read() does. Raises ValueError if a signal handler, or
  // another thread, asks for an event while one is being read.
  const Event* Next();
  uint64_t page_bytes() const { return page_bytes_; }
  // The changes of RSS by rows' threads; null: unknown. To be taken once for
  // each row, in their order.
  RowDrss* threads() const { return threads_.get(); }

 private:
  void OnHeader(const Header& header) override;
  bool OnRows(const Row* rows, size_t count) override;
  bool OnPages(const PageEntry* entries, size_t count) override;
  bool OnHeap(const HeapEvent* events, size_t count) override;
  bool OnGil(const GilEvent* events, size_t count) override;
  void OnHeapRates(const HeapRates& rates) override;
  void OnMark(const Mark& mark) override;

  const std::shared_ptr<const RunFile> file_;
  const EventKinds kinds_;
  RunFileSource source_;
  ReadSteps steps_;
  bool ended_ = false, reading_ = false;
  uint64_t page_bytes_ = 0;
  bool asked_threads_ = false;
  std::unique_ptr<ThreadDrss> threads_;
  HeapWeights weights_;
  uint32_t rate_ = 0;          // number of the current rates
  std::vector<Event> events_;  // of one record
  size_t next_ = 0;
};

// All of it requires the GIL.
class EventRecords {
 public:
  EventRecords(std::shared_ptr<const RunFile> file, EventKinds kinds);
  // Returns a Row, Allocation, Free, Page, Mark or Gil; raises StopIteration.
  pybind11::object Next();

 private:
  pybind11::object RecordOf(const Row& row);
  pybind11::object RecordOf(const WeighedHeapEvent& heap);
  pybind11::object RecordOf(const PageEntry& entry);
  pybind11::object RecordOf(const MarkEvent& mark);
  pybind11::object RecordOf(const GilEvent& event);
  pybind11::str ThreadOf(uint32_t thread);

  EventStream stream_;
  PythonTexts texts_;
  const RecordType row_{"Row"}, allocation_{"Allocation"}, free_{"Free"},
      unmap_{"Unmap"}, page_{"Page"}, mark_{"Mark"}, gil_{"Gil"};
};

// Parses names such as "heap": an iterable of them, or one str with commas;
// None: all. Raises ValueError for unknown names.
EventKinds EventKindsOf(pybind11::handle names);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_EVENT_RECORDS_H_
