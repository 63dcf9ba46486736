#include "tracer/objects/object_walk.h"

#ifndef PYMEMRUN_NO_OBJECTS
#include <stdio.h>
#include <string.h>

#include "tracer/cpython/objects/object_roots.h"

namespace pymemrun {
namespace {

uint64_t KeyOf(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

// Flags of ObjectBatch::Flag.
constexpr uint32_t kTracked = 1;
constexpr uint32_t kImmortal = 2;
constexpr uint32_t kEstimated = 4;
constexpr uint32_t kFrozen = 8;
constexpr uint32_t kInterned = 16;

// By GroupKind.
constexpr const char* kGroupNames[] = {"modules",
                                       "interpreter",
                                       "static types",
                                       "interned",
                                       "gc tracked, not reached",
                                       "frozen"};

// A breadth-first walk of the object graph in the forked child. numbers_ gives
// each reached object its number and is the queue, too. Nodes are sent in the
// order of their numbers, so the file can encode a new target as 0. Takes some
// 25 bytes of memory per object.
//
// Adds a target of tp_traverse to the list.
int AddVisited(PyObject* target, void* list) {
  // A broken tp_traverse may visit nothing at all.
  if (target != nullptr) static_cast<ReferenceList*>(list)->AddVisited(target);
  return 0;
}

}  // namespace

void ObjectWalk::Run() {
  // Weak references may reach new objects, and these others, so the steps
  // repeat until nothing is new.
  types_.DefineSynthetic();
  FindFrozen();
  numbers_.Number(kTagBits);  // the root's key, that of nothing else
  do {
    VisitQueued();
    VisitNotReached();
    VisitWeak();
  } while (visited_ < numbers_.count());
}

// Objects of gc.freeze(), for the flag of their nodes.
void ObjectWalk::FindFrozen() {
  PyInterpreterState* interpreter = nullptr;
  while ((interpreter = PymemrunNextInterpreter(interpreter)) != nullptr) {
    const auto add = [](PyObject* object, void* map) {
      static_cast<PointerMap*>(map)->Add(KeyOf(object), 1);
      return 0;
    };
    PymemrunTrackedObjects(interpreter, 1, add, &frozen_);
  }
}

PyInterpreterState* ObjectWalk::InterpreterAt(uint32_t index) const {
  PyInterpreterState* interpreter = PymemrunNextInterpreter(nullptr);
  for (; index > 0 && interpreter != nullptr; --index) {
    interpreter = PymemrunNextInterpreter(interpreter);
  }
  return interpreter;
}

void ObjectWalk::VisitQueued() {
  // Objects are read in an order that caches do not foresee, so each is
  // prefetched some steps ahead.
  constexpr uint32_t kAhead = 8;
  while (visited_ < numbers_.count()) {
    const uint32_t node = visited_++;
    if (node + kAhead < numbers_.count()) {
      const uint64_t next = numbers_.key(node + kAhead) & ~kTagBits;
      __builtin_prefetch(reinterpret_cast<const void*>(next - 16));
      __builtin_prefetch(reinterpret_cast<const void*>(next + 16));
    }
    const uint64_t key = numbers_.key(node);
    void* const pointer = reinterpret_cast<void*>(key & ~kTagBits);
    node_ = node;
    gathers_ = false;
    switch (key & kTagBits) {
      case kObject:
        VisitObject(static_cast<PyObject*>(pointer));
        break;
      case kFrameTag:
        VisitFrame(pointer);
        break;
      case kThreadTag:
        VisitThread(static_cast<PyThreadState*>(pointer));
        break;
      case kGroupTag:
        VisitGroup(key);
        break;
      default:
        VisitRoot();
    }
  }
}

void ObjectWalk::VisitRoot() {
  PutSynthetic(Synthetic::kRoot, "", 0, 0);
  PyInterpreterState* interpreter = nullptr;
  uint32_t index = 0;
  while ((interpreter = PymemrunNextInterpreter(interpreter)) != nullptr) {
    for (uint32_t kind = 0; kind < static_cast<uint32_t>(GroupKind::kCount);
         ++kind) {
      PutReference(GroupKey(static_cast<GroupKind>(kind), index), kPymemrunRoot,
                   names_.Of(kGroupNames[kind]));
    }
    PyThreadState* thread = nullptr;
    while ((thread = PymemrunNextThread(interpreter, thread)) != nullptr) {
      PutReference(KeyOf(thread) | kThreadTag, kPymemrunRoot,
                   names_.Of("thread"));
    }
    ++index;
  }
}

void ObjectWalk::VisitGroup(uint64_t key) {
  constexpr uint32_t kKinds = static_cast<uint32_t>(GroupKind::kCount);
  const uint32_t place = static_cast<uint32_t>(key >> 3) - 1;
  PyInterpreterState* const interpreter = InterpreterAt(place / kKinds);
  const GroupKind kind = static_cast<GroupKind>(place % kKinds);
  char text[80];
  int bytes = snprintf(text, sizeof(text), "%s", kGroupNames[place % kKinds]);
  if (PyInterpreterState_GetID(interpreter) != 0) {
    bytes =
        snprintf(text, sizeof(text), "%s of interpreter %lld",
                 kGroupNames[place % kKinds],
                 static_cast<long long>(PyInterpreterState_GetID(interpreter)));
  }
  PutSynthetic(Synthetic::kGroup, text, static_cast<size_t>(bytes), 0);
  const PymemrunSink sink = {TakeEdge, this};
  if (kind == GroupKind::kModules) {
    PymemrunTell(&sink, PymemrunModules(interpreter), kPymemrunRoot, 1, nullptr,
                 "sys.modules");
  } else if (kind == GroupKind::kInterpreter) {
    PymemrunInterpreterEdges(interpreter, &sink);
  } else if (kind == GroupKind::kStaticTypes) {
    PymemrunStaticTypes(interpreter, &sink);
  } else if (kind == GroupKind::kInterned) {
    PymemrunInternedStrings(interpreter, &sink);
  }
}

void ObjectWalk::VisitThread(PyThreadState* thread) {
  char text[kPymemrunTextBytes];
  PyObject* name = PymemrunThreadName(thread);
  int bytes = name != nullptr ? PymemrunNameText(name, text) : -1;
  if (bytes < 0) {
    bytes = snprintf(text, sizeof(text), "%lu", PymemrunThreadNumber(thread));
  }
  PutSynthetic(Synthetic::kThread, text, static_cast<size_t>(bytes), 0);
  const void* frame = nullptr;
  while ((frame = PymemrunNextRunningFrame(thread, frame)) != nullptr) {
    const uint64_t tag = kPymemrunFramesAreObjects ? 0 : uint64_t{kFrameTag};
    PutReference(KeyOf(frame) | tag, kPymemrunRoot, names_.Of("frame"));
  }
  const PymemrunSink sink = {TakeEdge, this};
  PymemrunThreadEdges(thread, &sink);
}

void ObjectWalk::VisitFrame(const void* frame) {
  char text[kPymemrunTextBytes];
  const int bytes = PymemrunNameText(PymemrunRunningName(frame), text);
  PutSynthetic(Synthetic::kFrame, text,
               bytes > 0 ? static_cast<size_t>(bytes) : 0,
               static_cast<uint32_t>(PymemrunRunningLine(frame)));
  const PymemrunSink sink = {TakeEdge, this};
  PymemrunFrameEdges(frame, &sink);
}

void ObjectWalk::VisitObject(PyObject* object) {
  const GraphTypes::Type type = types_.Of(Py_TYPE(object));
  at_address_ = KeyOf(object);
  at_type_ = type.id;
  PutObject(object, type);
  const PymemrunTypeFacts& facts = type.facts;
  const PymemrunSink sink = {TakeEdge, this};
  if (facts.exact) {
    switch (facts.shape) {
      case kPymemrunStr:
      case kPymemrunBytes:
      case kPymemrunInt:
      case kPymemrunFloat:
        return;
      // What has a name is all that they refer to.
      case kPymemrunDictShape:
      case kPymemrunList:
      case kPymemrunTuple:
      case kPymemrunCellShape:
        return PymemrunShapeEdges(object, &facts, &sink);
      default:
        break;
    }
  }
  // Other types: collects the named references and what tp_traverse visits, and
  // matches the two (ReferenceList).
  if (facts.shape == kPymemrunFunction) NoteClosure(object);
  gathers_ = true;
  references_.Clear();
  PymemrunNamedEdges(object, &facts, &sink);
  if (PymemrunCanTraverse(object)) {
    Py_TYPE(object)->tp_traverse(object, AddVisited, &references_);
  }
  gathers_ = false;
  // Members of a set have no other name.
  const bool is_set = facts.shape == kPymemrunSet && facts.exact;
  references_.ForEach([this, is_set](PymemrunEdge edge) {
    if (is_set && edge.kind == kPymemrunOther) edge.kind = kPymemrunKey;
    Take(edge);
  });
}

// Visits tracked objects that no reference reached, and everything they reach.
// One after the other, so the first object of a cycle represents it.
void ObjectWalk::VisitNotReached() {
  uint32_t index = 0;
  PyInterpreterState* interpreter = nullptr;
  while ((interpreter = PymemrunNextInterpreter(interpreter)) != nullptr) {
    struct Group {
      ObjectWalk* walk;
      uint32_t node;
    };
    const auto visit = [](PyObject* object, void* arg) {
      const Group& group = *static_cast<Group*>(arg);
      ObjectWalk& walk = *group.walk;
      if (walk.numbers_.Has(KeyOf(object))) return 0;
      const uint64_t from = group.node;
      walk.pipe_->Put(ObjectMessage::kContinue, &from, sizeof(from), nullptr,
                      0);
      walk.PutReference(KeyOf(object), kPymemrunRoot, 0);
      walk.VisitQueued();
      return 0;
    };
    Group group = {this,
                   numbers_.Number(GroupKey(GroupKind::kNotReached, index))};
    PymemrunTrackedObjects(interpreter, 0, visit, &group);
    group.node = numbers_.Number(GroupKey(GroupKind::kFrozen, index));
    PymemrunTrackedObjects(interpreter, 1, visit, &group);
    ++index;
  }
}

// Weak references come last, so that they are not the first to reach an object.
// An object that only they reach is held by C code.
void ObjectWalk::VisitWeak() {
  const uint64_t group = numbers_.Number(GroupKey(GroupKind::kNotReached, 0));
  for (; weak_told_ < weak_.size(); ++weak_told_) {
    const Late late = weak_[weak_told_];
    if (!numbers_.Has(KeyOf(late.target))) {
      pipe_->Put(ObjectMessage::kContinue, &group, sizeof(group), nullptr, 0);
      PutReference(KeyOf(late.target), kPymemrunRoot, 0);
    }
    const uint64_t from = late.from;
    pipe_->Put(ObjectMessage::kContinue, &from, sizeof(from), nullptr, 0);
    PutReference(KeyOf(late.target), kPymemrunWeak, 0);
  }
}

void ObjectWalk::PutSynthetic(Synthetic type, const char* text, size_t bytes,
                              uint32_t line) {
  ObjectNodeWire wire = {};
  wire.type = static_cast<uint32_t>(type);
  wire.line = line;
  wire.has = bytes > 0 ? kNodeHasText : 0;
  pipe_->Put(ObjectMessage::kNode, &wire, sizeof(wire), text, bytes);
}

uint32_t ObjectWalk::FlagsOf(PyObject* object, const PymemrunTypeFacts& facts,
                             bool estimated) {
  uint32_t flags = estimated ? kEstimated : 0;
  if (PymemrunIsTracked(object) != 0) flags |= kTracked;
  if (PymemrunIsImmortal(object) != 0) flags |= kImmortal;
  if (facts.shape == kPymemrunStr && PymemrunIsInterned(object) != 0) {
    flags |= kInterned;
  }
  if (frozen_.Find(KeyOf(object)) != 0) flags |= kFrozen;
  return flags;
}

void ObjectWalk::PutText(PyObject* object, const PymemrunTypeFacts& facts,
                         ObjectNodeWire* wire, char* text, int* bytes) {
  int cut = 0;
  *bytes = PymemrunTextOf(object, &facts, text, &cut);
  if (*bytes < 0) {
    *bytes = 0;
    return;
  }
  wire->has |= kNodeHasText;
  if (cut == 0) return;
  size_t whole_bytes = 0;
  const void* whole = PymemrunWholeText(object, &whole_bytes);
  wire->text_hash = HashBytes(whole, whole_bytes);
}

void ObjectWalk::PutObject(PyObject* object, const GraphTypes::Type& type) {
  int estimated = 0;
  ObjectNodeWire wire = {};
  wire.address = KeyOf(object);
  wire.type = type.id;
  PymemrunBlock beside = {};
  wire.size_bytes = PymemrunSizeOf(object, &type.facts, &estimated, &beside);
  if (type.facts.shape == kPymemrunMapping) {
    const PymemrunBlock mapping = PymemrunMappingOf(object);
    beside = {mapping.at, mapped_.ResidentBytes(mapping.at, mapping.bytes)};
    wire.size_bytes += beside.bytes;
  }
  if (beside.bytes > 0) {
    wire.beside = KeyOf(beside.at);
    wire.beside_bytes = beside.bytes;
  }
  wire.flags = FlagsOf(object, type.facts, estimated != 0);
  const Py_ssize_t length = PymemrunLengthOf(object, &type.facts);
  if (length >= 0) {
    wire.length = static_cast<uint64_t>(length);
    wire.has |= kNodeHasLength;
  }
  char text[kPymemrunTextBytes];
  int bytes = 0;
  if (type.facts.shape != kPymemrunPlain) {
    PutText(object, type.facts, &wire, text, &bytes);
  }
  pipe_->Put(ObjectMessage::kNode, &wire, sizeof(wire), text,
             static_cast<size_t>(bytes));
}

void ObjectWalk::TakeEdge(void* walk, const PymemrunEdge* edge) {
  ObjectWalk& self = *static_cast<ObjectWalk*>(walk);
  if (self.gathers_) {
    self.references_.AddNamed(*edge);
  } else {
    self.Take(*edge);
  }
}

uint32_t ObjectWalk::NameOf(const PymemrunEdge& edge) {
  // The name of a variable in a cell is known from the function or frame that
  // has the cell.
  if (edge.kind == kPymemrunCell) return cell_names_.Find(at_address_);
  if (edge.name != nullptr) return names_.Of(edge.name);
  return edge.text != nullptr ? names_.Of(edge.text) : 0;
}

void ObjectWalk::Take(const PymemrunEdge& edge) {
  if (edge.kind == kPymemrunWeak) return weak_.Push({node_, edge.target});
  const uint32_t name = NameOf(edge);
  if (edge.kind == kPymemrunLocal && PyCell_Check(edge.target)) {
    NoteCell(edge.target, name);
  }
  PutReference(KeyOf(edge.target), edge.kind, name);
}

void ObjectWalk::PutReference(uint64_t key, int kind, uint32_t name) {
  const uint32_t target = numbers_.Number(key);
  pipe_->PutEdge(
      {target, static_cast<uint32_t>(kind) << kEdgeKindShift | name});
}

void ObjectWalk::NoteCell(PyObject* cell, uint32_t name) {
  if (name == 0 || cell_names_.Find(KeyOf(cell)) != 0) return;
  cell_names_.Add(KeyOf(cell), name);
}

void ObjectWalk::NoteClosure(PyObject* function) {
  const auto note = [](void* walk, const PymemrunEdge* edge) {
    ObjectWalk& self = *static_cast<ObjectWalk*>(walk);
    if (edge->name == nullptr || !PyCell_Check(edge->target)) return;
    self.NoteCell(edge->target, self.names_.Of(edge->name));
  };
  const PymemrunSink sink = {note, this};
  PymemrunClosureNames(function, &sink);
}

}  // namespace pymemrun
#endif
