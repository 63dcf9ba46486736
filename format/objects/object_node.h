// What the records of an object dump become for a RecordVisitor: nodes, and the
// references between them.
#ifndef PYMEMRUN_FORMAT_OBJECTS_OBJECT_NODE_H_
#define PYMEMRUN_FORMAT_OBJECTS_OBJECT_NODE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "format/trace.pb.h"

namespace pymemrun {

// An object, or what the dump adds as one (ObjectTypeDef.synthetic).
struct ObjectNode {
  uint64_t address = 0;     // 0: synthetic
  uint64_t size_bytes = 0;  // see ObjectBatch
  // Part of these bytes in a second block, such as the items of a list. 0: no
  // such block is known.
  uint64_t beside_bytes = 0;
  uint64_t beside = 0;  // that block's address
  std::optional<uint64_t> length;
  // Value or name, as it is in the program; has no data where none is known.
  // Valid during the call.
  absl::string_view text;
  uint64_t text_hash = 0;  // of a text that is cut: of all of it; else 0
  uint32_t type = 0;       // ObjectTypeDef.id; 0 or defined
  uint32_t flags = 0;      // of ObjectBatch::Flag
  uint32_t line = 0;       // of frames; else 0
  uint32_t number = 0;     // rises from node to node
  bool has_text() const { return text.data() != nullptr; }
};

// A reference from one node to another. Either may be a node that comes later,
// or after damage one that never comes.
struct ObjectReference {
  uint32_t from = 0;  // rises, except to what comes late
  uint32_t target = 0;
  uint32_t name = 0;  // ObjectNameDef.id; 0 or defined
  EdgeKind kind = EDGE_OTHER;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_OBJECTS_OBJECT_NODE_H_
