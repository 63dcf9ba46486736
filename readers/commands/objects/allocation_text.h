// What people and machines are told of where objects were allocated.
#ifndef PYMEMRUN_READERS_COMMANDS_OBJECTS_ALLOCATION_TEXT_H_
#define PYMEMRUN_READERS_COMMANDS_OBJECTS_ALLOCATION_TEXT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/output/table.h"
#include "readers/run/frame_budget.h"

namespace pymemrun {

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

#endif  // PYMEMRUN_READERS_COMMANDS_OBJECTS_ALLOCATION_TEXT_H_
