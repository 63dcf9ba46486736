// Visits every object that the interpreter reaches, breadth first, and tells
// what it finds. For the forked child, with the GIL held.
#ifndef PYMEMRUN_TRACER_OBJECTS_OBJECT_WALK_H_
#define PYMEMRUN_TRACER_OBJECTS_OBJECT_WALK_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython/objects/object_graph.h"
#include "tracer/objects/child_memory.h"
#include "tracer/objects/graph_names.h"
#include "tracer/objects/node_numbers.h"
#include "tracer/objects/object_pipe.h"
#include "tracer/objects/reference_list.h"

namespace pymemrun {

class ObjectWalk {
 public:
  explicit ObjectWalk(ObjectPipe* pipe)
      : pipe_(pipe), types_(pipe), names_(pipe) {}

  void Run();
  // Where it is, for a signal handler: the object and its type.
  uint64_t at_address() const { return at_address_; }
  uint32_t at_type() const { return at_type_; }

 private:
  // Meaning of the lowest bits of the key of a node.
  enum Tag : uint64_t {
    kObject = 0,
    kFrameTag = 1,
    kThreadTag = 2,
    kGroupTag = 3
  };
  static constexpr uint64_t kTagBits = 7;
  enum class GroupKind : uint32_t {
    kModules,
    kInterpreter,
    kStaticTypes,
    kInterned,
    kNotReached,
    kFrozen,
    kCount
  };
  // A reference that is told when all others were followed.
  struct Late {
    uint32_t from;
    PyObject* target;
  };
  // Key of the group of an interpreter or a thread, by their place in the
  // lists.
  static uint64_t GroupKey(GroupKind kind, uint32_t interpreter) {
    return ((uint64_t{interpreter} * static_cast<uint32_t>(GroupKind::kCount) +
             static_cast<uint32_t>(kind) + 1)
            << 3) |
           kGroupTag;
  }

  void VisitQueued();
  void VisitRoot();
  void VisitGroup(uint64_t key);
  void VisitThread(PyThreadState* thread);
  void VisitFrame(const void* frame);
  void VisitObject(PyObject* object);
  void VisitNotReached();
  void VisitWeak();

  void PutSynthetic(Synthetic type, const char* text, size_t bytes,
                    uint32_t line);
  void PutObject(PyObject* object, const GraphTypes::Type& type);
  void PutText(PyObject* object, const PymemrunTypeFacts& facts,
               ObjectNodeWire* wire, char* text, int* bytes);
  uint32_t FlagsOf(PyObject* object, const PymemrunTypeFacts& facts,
                   bool estimated);

  static void TakeEdge(void* walk, const PymemrunEdge* edge);
  void Take(const PymemrunEdge& edge);
  void PutReference(uint64_t key, int kind, uint32_t name);
  uint32_t NameOf(const PymemrunEdge& edge);
  void NoteCell(PyObject* cell, uint32_t name);
  void NoteClosure(PyObject* function);
  void FindFrozen();
  PyInterpreterState* InterpreterAt(uint32_t index) const;

  ObjectPipe* const pipe_;
  GraphTypes types_;
  GraphNames names_;
  NodeNumbers numbers_;
  ReferenceList references_;
  MappedMemory mapped_;
  PointerMap cell_names_;
  PointerMap frozen_;
  ChildArray<Late> weak_;
  size_t weak_told_ = 0;
  uint32_t visited_ = 0;  // nodes
  uint32_t node_ = 0;     // whose references come
  bool gathers_ = false;  // they go through references_
  uint64_t at_address_ = 0;
  uint32_t at_type_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_OBJECT_WALK_H_
