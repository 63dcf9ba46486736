// What came, went and grew between two dumps.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_GRAPH_DIFF_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_GRAPH_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// Of the objects of one type, or of one line. An object is the same in both
// dumps if address, type and, of what has one, value are.
struct ObjectsDiffRow {
  std::string name;  // empty: of no line that is known
  uint64_t old_objects = 0, old_bytes = 0;
  uint64_t new_objects = 0, new_bytes = 0;  // in the new dump
  uint64_t came = 0, came_bytes = 0;        // in the new dump alone
  uint64_t gone = 0, gone_bytes = 0;        // in the old dump alone
  int64_t grown_bytes = 0;                  // of those that are in both
  int64_t net_bytes() const {
    return static_cast<int64_t>(new_bytes) - static_cast<int64_t>(old_bytes);
  }
};

// Whether both are of one process, so that addresses can be compared. Of dumps
// that do not say which process they are of, it is taken for granted.
bool IsOneProcess(const ObjectGraph& older, const ObjectGraph& newer);

// The object of `other` that is the same as `node` of `graph`, or kNoNode. Of
// synthetic nodes nothing is known.
NodeId SameObject(const ObjectGraph& other, const ObjectGraph& graph,
                  NodeId node);

enum class ObjectsDiffBy { kType, kLine };

// Rows that differ in something, those that changed most first. Without
// `by_address` nothing is known of came, gone and grown.
std::vector<ObjectsDiffRow> DiffGraphs(const ObjectGraph& older,
                                       const ObjectGraph& newer,
                                       const NodeFilter& filter,
                                       bool by_address,
                                       ObjectsDiffBy by = ObjectsDiffBy::kType);

// An object that retains more or less than before, or is in one dump alone.
struct RetainedDiff {
  NodeId node = kNoNode;      // in the new dump; kNoNode: it is gone
  NodeId old_node = kNoNode;  // in the old dump; kNoNode: it is new
  uint64_t bytes = 0;         // that it retains in the new dump
  uint64_t old_bytes = 0;
  // What it retains more, without what rows of objects below it say.
  int64_t grown_bytes = 0;
};

// Goes down the tree of dominators wherever `least_bytes` or more were or are
// retained, and lists what changed by as much. So each row is where it
// accumulates, and nothing is counted twice: with what is below `least_bytes`
// the rows add up to the whole change. Those that changed most first. REQUIRES:
// both are of one process.
std::vector<RetainedDiff> DiffRetained(ObjectAnalysis* older,
                                       ObjectAnalysis* newer,
                                       uint64_t least_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_GRAPH_DIFF_H_
