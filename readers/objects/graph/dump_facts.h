// What an ObjectGraph knows of its nodes and of its dump.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_FACTS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "format/objects/object_node.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Number of a node. Numbers are dense, even if damage removed nodes.
using NodeId = uint32_t;
// No node; and the node that stands for all roots.
inline constexpr NodeId kNoNode = ~NodeId{0};
inline constexpr NodeId kRootNode = 0;

// Details that not every node has. Views are valid as long as the graph.
struct NodeDetails {
  std::optional<uint64_t> length;
  std::optional<absl::string_view> text;  // not escaped
  uint64_t hash = 0;                      // of the whole text, if it was cut
  uint32_t line = 0;
};

// Encodes the details of nodes as bytes, one node after the other.
void AppendNodeDetails(const ObjectNode& node, std::string* bytes);
void AppendNodeDetails(const NodeDetails& details, std::string* bytes);
// Takes the details of a node off the front. REQUIRES: AppendNodeDetails()
// wrote them.
NodeDetails TakeNodeDetails(absl::string_view* bytes);
// The same for untrusted bytes. Returns false if they are invalid.
bool SkipNodeDetails(absl::string_view* bytes);

// Facts about the dump.
struct DumpFacts {
  Header header;
  ObjectsBegin begin;
  std::optional<ObjectsEnd> end;  // none: the dump was cut off
  uint64_t lost_references = 0;   // their nodes are missing in the file
  bool has_root = true;           // false: the loader made one
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_DUMP_FACTS_H_
