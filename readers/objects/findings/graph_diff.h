// What is new, gone and grown between two dumps.
#ifndef PYMEMRUN_READERS_OBJECTS_FINDINGS_GRAPH_DIFF_H_
#define PYMEMRUN_READERS_OBJECTS_FINDINGS_GRAPH_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/node_filter.h"
#include "readers/objects/graph/object_graph.h"

namespace pymemrun {

// The objects of one type, or of one line. An object is the same in both dumps
// if its address, its type and, if it has one, its value are equal.
struct ObjectsDiffRow {
  std::string name;  // empty: the line is unknown
  uint64_t old_objects = 0, old_bytes = 0;
  uint64_t new_objects = 0, new_bytes = 0;  // in the new dump
  uint64_t came = 0, came_bytes = 0;        // only in the new dump
  uint64_t gone = 0, gone_bytes = 0;        // only in the old dump
  int64_t grown_bytes = 0;                  // of objects in both
  int64_t net_bytes() const {
    return static_cast<int64_t>(new_bytes) - static_cast<int64_t>(old_bytes);
  }
};

// Whether both are of one process, so that addresses are comparable. Dumps that
// do not name their process are taken to be.
bool IsOneProcess(const ObjectGraph& older, const ObjectGraph& newer);

// The object of `other` that is the same as `node` of `graph`, or kNoNode.
// Synthetic nodes have none.
NodeId SameObject(const ObjectGraph& other, const ObjectGraph& graph,
                  NodeId node);

enum class ObjectsDiffBy { kType, kLine };

// The rows that differ, largest changes first. Without `by_address`, came, gone
// and grown stay 0.
std::vector<ObjectsDiffRow> DiffGraphs(const ObjectGraph& older,
                                       const ObjectGraph& newer,
                                       const NodeFilter& filter,
                                       bool by_address,
                                       ObjectsDiffBy by = ObjectsDiffBy::kType);

// An object that retains more or less than before, or is in one dump only.
struct RetainedDiff {
  NodeId node = kNoNode;      // in the new dump; kNoNode: it is gone
  NodeId old_node = kNoNode;  // in the old dump; kNoNode: it is new
  uint64_t bytes = 0;         // retained in the new dump
  uint64_t old_bytes = 0;
  // The change of what it retains, without the changes in other rows below it.
  int64_t grown_bytes = 0;
};

// Descends the dominator tree while at least `least_bytes` were or are
// retained, and lists changes of at least that size. So a row is the place
// where memory accumulates, and no byte is counted twice: with changes below
// `least_bytes` the rows add up to the whole change. Largest changes first.
// REQUIRES: both are of one process.
std::vector<RetainedDiff> DiffRetained(ObjectAnalysis* older,
                                       ObjectAnalysis* newer,
                                       uint64_t least_bytes);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_FINDINGS_GRAPH_DIFF_H_
