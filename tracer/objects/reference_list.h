// The references of one object: those that tp_traverse visits, and those with a
// name. The two lists together tell which reference has which name.
#ifndef PYMEMRUN_TRACER_OBJECTS_REFERENCE_LIST_H_
#define PYMEMRUN_TRACER_OBJECTS_REFERENCE_LIST_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython/objects/object_graph.h"
#include "tracer/objects/child_memory.h"

namespace pymemrun {

// Not thread-safe; reused for one object after the other.
class ReferenceList {
 public:
  void Clear();
  void AddVisited(PyObject* target) { visited_.Push(target); }
  void AddNamed(const PymemrunEdge& edge) { named_.Push(edge); }
  // Calls take(edge) once for each reference. First those with a name, in the
  // order of AddNamed(), if they were visited or are always references. Then
  // those that were visited and have no name. Takes linear time.
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
    PyObject* target;  // null: empty
    uint64_t count;    // visits not yet taken
  };
  void Count();
  bool TakeOne(PyObject* target);
  size_t PlaceOf(PyObject* target) const;

  ChildArray<PyObject*> visited_;
  ChildArray<PymemrunEdge> named_;
  Slot* slots_ = nullptr;
  size_t room_ = 0;  // slots
  size_t mask_ = 0;  // number of slots used for this object - 1
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_REFERENCE_LIST_H_
