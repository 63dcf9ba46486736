// What people read of an object and of a reference. Strings here are bytes from
// the file; what prints them makes them harmless.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_TEXT_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_TEXT_H_

#include <cstdint>
#include <string>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// "0x7f3a1c2d", as Python shows addresses; "" of synthetic nodes.
std::string AddressText(const ObjectGraph& graph, NodeId node);
// The type's name; of a group its own: "modules".
std::string KindText(const ObjectGraph& graph, NodeId node);
// A value as repr() would show it, cut at what the dump has: "'abc'", "12",
// "main.py:15 handle"; empty: nothing is known.
std::string ValueText(const ObjectGraph& graph, NodeId node);
// "Cache 0x7f3a1c2d", "str 0x... 'abc'".
std::string NodeText(const ObjectGraph& graph, NodeId node);

// A reference as an expression would have it: ".name", "['key']", "[3]",
// "key", ".__class__", "local x".
std::string EdgeText(const ObjectGraph& graph, uint32_t edge);
// The kind's word for machines: "attribute", "value".
std::string EdgeKindName(EdgeKind kind);

// The node that is the key of the value that this reference leads to, or
// kNoNode.
NodeId KeyOf(const ObjectGraph& graph, uint32_t edge);

// A node by what a user wrote: an address, "0x7f..." or decimal, or "#12", its
// number. kNoNode: the dump has no such node.
NodeId NodeByText(const ObjectGraph& graph, absl::string_view text);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_TEXT_H_
