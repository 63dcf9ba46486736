// The iterator that Run.events() gives.
#ifndef PYMEMRUN_READERS_PYTHON_EVENT_RECORDS_H_
#define PYMEMRUN_READERS_PYTHON_EVENT_RECORDS_H_

#include <memory>

#include "pybind11/pybind11.h"
#include "readers/python/event_stream.h"
#include "readers/python/python_values.h"

namespace pymemrun {

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
