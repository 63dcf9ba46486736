// Tables and sentences of objects that the commands of pymemobj share.
#ifndef PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_
#define PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_

#include <optional>
#include <string>

#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/chains.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/output/table.h"

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

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COMMANDS_OBJECTS_OBJECT_TABLE_H_
