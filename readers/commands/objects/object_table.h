// Tables and sentences of objects that the commands of pymemobj share.
#ifndef PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_
#define PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/output/table.h"
#include "readers/run/frame_budget.h"

namespace pymemrun {

// A row for each object. `first`: the heading of a column before the others,
// such as how it is referred to.
Table ObjectTable(const std::optional<Table::Heading>& first = std::nullopt);
// Adds one; `first` is the cell of that column.
void AddObject(ObjectAnalysis* analysis, NodeId node, Table* table,
               const std::optional<std::string>& first = std::nullopt);

// "list 0x1200 is 72 bytes. Without it 24.5 MiB would go, 71 % of all."
std::string ObjectSentence(ObjectAnalysis* analysis, NodeId node);
// "dict 0x1100", harmless for a terminal.
std::string ShownNode(const ObjectGraph& graph, NodeId node);

// A row for each type: objects that the filter lets through, their bytes, the
// largest, what they retain. `limit` 0: all.
Table TypeTable(ObjectAnalysis* analysis, const NodeFilter& where,
                uint64_t limit);

// What people and machines are told of where objects were allocated.

// "Allocated at 0.013 s by MainThread#4711:" and a line for each frame, the
// innermost first, `most_frames` of them without the import machinery's; each
// line behind `indent`. `lead`: what to begin with, if not with "Allocated" or,
// of the block beside the object, "Allocated or last enlarged". Empty: it is
// not known.
std::string AllocationText(const ObjectGraph& graph, NodeId node,
                           absl::string_view indent, int most_frames,
                           absl::string_view lead = "");
// "cache.py:4 fill": a line as NodeAllocations numbers it, with a short path.
std::string ShownLine(const ObjectGraph& graph, uint32_t line);

// The line, the stack, time, thread, and whether it is sure.
std::vector<Table::Heading> AllocationHeadings();
// Cells of these, empty ones where it is not known.
void AddAllocationCells(const ObjectGraph& graph, NodeId node,
                        FrameBudget* budget, std::vector<Cell>* row);
// Headings and cells for a table that has a row for each of `nodes`.
void AddAllocationColumns(const ObjectGraph& graph,
                          absl::Span<const NodeId> nodes, FrameBudget* budget,
                          Table* table);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_
