// What an ObjectGraph says of its nodes and of its dump.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_FACTS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "format/objects/object_node.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Index of a node; they are dense, whatever damage took away.
using NodeId = uint32_t;
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr NodeId kRootNode = 0;

// What not every node has. Views are valid as long as the graph.
struct NodeDetails {
  std::optional<uint64_t> length;
  std::optional<absl::string_view> text;  // not escaped
  uint64_t hash = 0;                      // of a text that is cut
  uint32_t line = 0;
};

// Details as bytes: one node behind the other, each with what it has.
void AppendNodeDetails(const ObjectNode& node, std::string* bytes);
void AppendNodeDetails(const NodeDetails& details, std::string* bytes);
// Takes those of a node off the front. REQUIRES: they were written here.
NodeDetails TakeNodeDetails(absl::string_view* bytes);
// The same of bytes from elsewhere. False: they are none.
bool SkipNodeDetails(absl::string_view* bytes);

// What was found of the dump itself.
struct DumpFacts {
  Header header;
  ObjectsBegin begin;
  std::optional<ObjectsEnd> end;  // none: the dump was cut off
  uint64_t lost_references = 0;   // to and from nodes that the file lacks
  bool has_root = true;           // false: the loader made one
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_FACTS_H_
