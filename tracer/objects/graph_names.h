// Types and names that the dump defines once and then calls by number.
#ifndef PYMEMRUN_TRACER_OBJECTS_GRAPH_NAMES_H_
#define PYMEMRUN_TRACER_OBJECTS_GRAPH_NAMES_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython/objects/object_graph.h"
#include "tracer/objects/child_memory.h"
#include "tracer/objects/object_pipe.h"

namespace pymemrun {

// Nodes that are no objects.
enum class Synthetic : uint32_t { kRoot = 1, kGroup, kFrame, kThread };

class GraphTypes {
 public:
  explicit GraphTypes(ObjectPipe* pipe) : pipe_(pipe) {}
  // Defines what stands for Synthetic.
  void DefineSynthetic();

  struct Type {
    PymemrunTypeFacts facts;
    uint32_t id;
  };
  // The pointer stays until the next call.
  const Type& Of(PyTypeObject* type) {
    if (type == last_type_) return types_[last_];
    return Find(type);
  }

 private:
  const Type& Find(PyTypeObject* type);
  uint32_t Define(PyTypeObject* type, uint32_t base);
  void Say(const ObjectTypeWire& wire, const char* name, size_t bytes);

  ObjectPipe* const pipe_;
  ChildArray<Type> types_;
  PointerMap by_address_;  // to the index in types_, + 1
  ChildArena arena_;
  uint32_t last_id_ = 0;
  const PyTypeObject* last_type_ = nullptr;
  size_t last_ = 0;
};

class GraphNames {
 public:
  explicit GraphNames(ObjectPipe* pipe) : pipe_(pipe) {}
  // The number of a name, 0 where it has no text, or there are too many names.
  uint32_t Of(PyObject* name);
  uint32_t Of(const char* ascii);

 private:
  uint32_t OfText(const char* text, size_t bytes);

  struct Text {
    const char* at;
    uint32_t bytes;
    uint32_t id;
  };
  struct Recent {
    const void* name;
    uint32_t id;
  };
  static constexpr size_t kRecent = 16384;
  void Grow();

  ObjectPipe* const pipe_;
  ChildArena arena_;
  Text* slots_ = nullptr;
  size_t mask_ = 0;
  uint32_t count_ = 0;
  Recent recent_[kRecent] = {};
};

// A hash of bytes. Equal bytes have equal hashes.
uint64_t HashBytes(const void* data, size_t bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_OBJECTS_GRAPH_NAMES_H_
