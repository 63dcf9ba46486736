// Tables and sentences about objects that the commands of pymemobj share.
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

// A row for each object. `first`: the heading of an additional first column,
// such as how the object is referred to.
Table ObjectTable(const std::optional<Table::Heading>& first = std::nullopt);
// Adds a row; `first` is its cell of that column.
void AddObject(ObjectAnalysis* analysis, NodeId node, Table* table,
               const std::optional<std::string>& first = std::nullopt);

// "list 0x1200 is 72 bytes. Without it 24.5 MiB would go, 71 % of all."
std::string ObjectSentence(ObjectAnalysis* analysis, NodeId node);
// "dict 0x1100", safe for a terminal.
std::string ShownNode(const ObjectGraph& graph, NodeId node);

// A row for each type: the objects that pass the filter, their bytes, the
// largest one, and what they retain. `limit` 0: all.
Table TypeTable(ObjectAnalysis* analysis, const NodeFilter& where,
                uint64_t limit);

// "Allocated at 0.013 s by MainThread#4711:" and a line for each frame,
// innermost first: `most_frames` of them, without the import machinery's. Each
// line is preceded by `indent`. `lead` replaces "Allocated", or "Allocated or
// last enlarged" for the block beside the object. Empty if the allocation is
// unknown.
std::string AllocationText(const ObjectGraph& graph, NodeId node,
                           absl::string_view indent, int most_frames,
                           absl::string_view lead = "");
// "cache.py:4 fill": a line as NodeAllocations numbers it, with a short path.
std::string ShownLine(const ObjectGraph& graph, uint32_t line);

// Columns for the line, the stack, time, thread, and whether it is certain.
std::vector<Table::Heading> AllocationHeadings();
// The cells of these columns; empty if the allocation is unknown.
void AddAllocationCells(const ObjectGraph& graph, NodeId node,
                        FrameBudget* budget, std::vector<Cell>* row);
// Adds these columns to a table that has a row for each of `nodes`.
void AddAllocationColumns(const ObjectGraph& graph,
                          absl::Span<const NodeId> nodes, FrameBudget* budget,
                          Table* table);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_
