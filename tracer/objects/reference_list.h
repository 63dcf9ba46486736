// The references of one object: what tp_traverse visits, and what has a name.
// Together they say which reference is called what.
#ifndef PYMEMRUN_TRACER_OBJECTS_REFERENCE_LIST_H_
#define PYMEMRUN_TRACER_OBJECTS_REFERENCE_LIST_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython/objects/object_graph.h"
#include "tracer/objects/child_memory.h"

namespace pymemrun {

class ReferenceList {
 public:
  void Clear();
  void AddVisited(PyObject* target) { visited_.Push(target); }
  void AddNamed(const PymemrunEdge& edge) { named_.Push(edge); }
  // Calls take(edge) with each reference once: those that have a name in the
  // order in which they came, if they were visited or always are references;
  // then those that were visited and have none. In linear time.
  template <typename Take>
  void ForEach(Take take) {
    Count();
    for (size_t i = 0; i < named_.size(); ++i) {
      const bool was_visited = TakeOne(named_[i].target);
      if (was_visited || named_[i].always != 0) take(named_[i]);
    }
    for (size_t i = 0; i < visited_.size(); ++i) {
      if (!TakeOne(visited_[i])) continue;
      take(PymemrunEdge{visited_[i], kPymemrunOther, 1, nullptr, nullptr});
    }
  }

 private:
  struct Slot {
    PyObject* target;  // null: none
    uint64_t count;    // how often it was visited and not yet taken
  };
  void Count();
  bool TakeOne(PyObject* target);
  size_t PlaceOf(PyObject* target) const;

  ChildArray<PyObject*> visited_;
  ChildArray<PymemrunEdge> named_;
  Slot* slots_ = nullptr;
  size_t room_ = 0;  // slots
  size_t mask_ = 0;  // of those that are used for this object
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_REFERENCE_LIST_H_
