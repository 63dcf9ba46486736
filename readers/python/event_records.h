// The iterator that Run.events() gives.
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

// A run file's events one after the other, for who asks for them.
struct EventKinds {
  bool calls = false, marks = false, pages = false, heap = false, gil = false;
};

struct WeighedHeapEvent {
  HeapEvent event;
  double weight;  // of an allocation
};
struct MarkEvent {
  uint64_t time_us, rss_bytes;
  uint32_t thread;
  std::string label;
};
using Event =
    std::variant<Row, WeighedHeapEvent, PageEntry, MarkEvent, GilEvent>;

// In the order of the file. Not thread safe.
class EventStream final : public IndexingVisitor {
 public:
  EventStream(std::shared_ptr<const RunFile> file, EventKinds kinds);
  // The next event, valid until the next call; null after the last. Raises as
  // RunFile::Read(). Raises ValueError when a signal's handler, or another
  // thread, asks for an event while one is read.
  const Event* Next();
  uint64_t page_bytes() const { return page_bytes_; }
  // What the threads of rows did; null: it is not known. Of each row it is to
  // be taken once, in their order.
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
  uint32_t rate_ = 0;          // number of the rates in force
  std::vector<Event> events_;  // those of one record
  size_t next_ = 0;
};

// All of it needs the GIL.
class EventRecords {
 public:
  EventRecords(std::shared_ptr<const RunFile> file, EventKinds kinds);
  // A Row, Allocation, Free, Page, Mark or Gil; raises StopIteration.
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

// From names such as "heap": an iterable of them, or one str with commas; None:
// all. Raises ValueError for others.
EventKinds EventKindsOf(pybind11::handle names);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PYTHON_EVENT_RECORDS_H_
