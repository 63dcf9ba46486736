// Text for people about objects and references. Strings are bytes from the
// file: escape them before printing.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_TEXT_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_TEXT_H_

#include <cstdint>
#include <string>

#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// "0x7f3a1c2d", as in Python; "" for synthetic nodes.
std::string AddressText(const ObjectGraph& graph, NodeId node);
// The type's name; for a group its own name: "modules".
std::string KindText(const ObjectGraph& graph, NodeId node);
// A value as repr() shows it, as far as the dump has it: "'abc'", "12",
// "main.py:15 handle"; empty: unknown.
std::string ValueText(const ObjectGraph& graph, NodeId node);
// "Cache 0x7f3a1c2d", "str 0x... 'abc'".
std::string NodeText(const ObjectGraph& graph, NodeId node);

// A reference as a part of an expression: ".name", "['key']", "[3]", "key",
// ".__class__", "local x".
std::string EdgeText(const ObjectGraph& graph, uint32_t edge);
// The name of the kind, for machines: "attribute", "value".
std::string EdgeKindName(EdgeKind kind);

// The key of the dictionary entry whose value this reference is, or kNoNode.
NodeId KeyOf(const ObjectGraph& graph, uint32_t edge);

// Finds a node by its address ("0x7f..." or decimal) or its number ("#12").
// kNoNode: the dump has no such node.
NodeId NodeByText(const ObjectGraph& graph, absl::string_view text);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_TEXT_H_
