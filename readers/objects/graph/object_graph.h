// The object graph of a dump: arrays of nodes, and of references in the order
// of the nodes they come from. A loader fills them, or they lie in an index;
// analyses read them.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_GRAPH_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/objects/object_node.h"
#include "format/trace.pb.h"
#include "readers/objects/graph/dump_facts.h"
#include "readers/objects/graph/graph_arrays.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Where and when the objects of a dump were allocated, as far as it is known.
// What knows it is in readers/objects/blocks.

// Of an object's own block. Where it is not sure that this made the object, of
// the block beside it, which holds a list's items: of its last enlargement.
struct NodeAllocation {
  uint32_t stack = 0;   // ids of the run's index
  uint32_t thread = 0;  // as the thread was called then
  // Nothing: before the process was forked.
  std::optional<uint64_t> time_us;
  bool is_beside = false;
  // False: an earlier object may have been made in that block, see FreeLists.
  bool is_sure = true;
};

class NodeAllocations {
 public:
  virtual ~NodeAllocations() = default;

  // Nothing: it is not known.
  virtual std::optional<NodeAllocation> Of(NodeId node) const = 0;
  // The number of the line of the user's own code that allocated it; 0: it is
  // not known.
  virtual uint32_t LineOf(NodeId node) const = 0;
  // The same where it is sure that this line made it; else 0.
  uint32_t SureLineOf(NodeId node) const {
    const auto allocation = Of(node);
    return allocation.has_value() && allocation->is_sure ? LineOf(node) : 0;
  }
  // "/app/cache.py:4 fill"; "" of 0.
  virtual const std::string& LineText(uint32_t line) const = 0;
  // Names of stacks and threads.
  virtual const RunIndex& index() const = 0;
  // Not every allocation was recorded.
  virtual bool sampled() const = 0;
};

// Not thread safe while it is filled.
class ObjectGraph {
 public:
  ObjectGraph();

  // Instead of all that fills it but AddType(). REQUIRES: the arrays fit
  // together, as OpenIndex() checks.
  void TakeArrays(GraphArrays arrays);

  // Leaves out details of nodes and names of references. To be called first.
  void OmitDetails() { omits_details_ = true; }
  // Nodes in their order. References may come in any, after their node.
  void AddType(const ObjectTypeDef& type);
  // Gives its id.
  uint32_t AddName(absl::string_view text);
  void AddNode(const ObjectNode& node);
  // `target` may come later. Fails when there are too many.
  absl::Status AddReference(const ObjectReference& reference);
  // After all, and after more references: puts late ones in their place, and
  // leaves out those to nodes that never came.
  void Finish();
  // Gives each target that came so far the number that `map` says.
  template <typename Map>
  void MapTargets(Map map) {
    for (NodeId& target : arrays_.targets) target = map(target);
    for (ObjectReference& late : late_) late.target = map(late.target);
  }
  DumpFacts& facts() { return facts_; }
  const DumpFacts& facts() const { return facts_; }
  NodeId nodes() const { return static_cast<NodeId>(arrays_.types.size()); }
  // Without synthetic ones.
  uint64_t objects() const { return objects_; }
  uint64_t references() const { return arrays_.targets.size(); }
  uint64_t total_bytes() const { return total_bytes_; }

  uint64_t address(NodeId node) const { return arrays_.addresses[node]; }
  uint64_t size_bytes(NodeId node) const;
  const BesideBlocks& besides() const { return arrays_.besides; }
  uint32_t type(NodeId node) const { return arrays_.types[node]; }
  uint32_t flags(NodeId node) const { return arrays_.flags[node]; }
  bool is_synthetic(NodeId node) const {
    return types_[arrays_.types[node]].synthetic();
  }
  NodeDetails details(NodeId node) const;
  void SetType(NodeId node, uint32_t type);

  // Types by id, 0 is one that is not known.
  const std::vector<ObjectTypeDef>& types() const { return types_; }
  // "dict", "queue.Queue".
  const std::string& type_name(uint32_t type) const {
    return type_names_[type];
  }

  // The references of a node are those from first_edge(node) on, up to
  // first_edge(node + 1).
  uint32_t first_edge(NodeId node) const { return arrays_.first_edges[node]; }
  uint32_t degree(NodeId node) const {
    return first_edge(node + 1) - first_edge(node);
  }
  NodeId target(uint32_t edge) const { return arrays_.targets[edge]; }
  NodeId SourceOf(uint32_t edge) const;
  EdgeKind kind(uint32_t edge) const {
    return static_cast<EdgeKind>(arrays_.kinds[edge]);
  }
  // Empty: it has none.
  absl::string_view edge_name(uint32_t edge) const {
    return name(name_id(edge));
  }
  uint32_t name_id(uint32_t edge) const {
    return omits_details_ ? 0 : arrays_.names[edge];
  }
  // Names by id, 0 is the empty one.
  uint32_t name_count() const {
    return static_cast<uint32_t>(arrays_.name_ends.size());
  }
  // Valid until the next AddName().
  absl::string_view name(uint32_t id) const {
    const uint64_t begin = id == 0 ? 0 : arrays_.name_ends[id - 1];
    return {arrays_.name_bytes.data() + begin, arrays_.name_ends[id] - begin};
  }
  // Those of details and names are empty where these were omitted.
  const GraphArrays& arrays() const { return arrays_; }

  // Null: nothing is known of allocations.
  const NodeAllocations* allocations() const { return allocations_.get(); }
  void TakeAllocations(std::unique_ptr<NodeAllocations> allocations) {
    allocations_ = std::move(allocations);
  }

  // The node at this address, or kNoNode.
  NodeId Find(uint64_t address) const;

 private:
  bool finished() const { return arrays_.first_edges.size() > nodes(); }
  void AppendDetails(const ObjectNode& node);
  void BeginEdges(size_t end);
  void MergeLate();
  void DropLost();

  bool omits_details_ = false;
  DumpFacts facts_;
  std::vector<ObjectTypeDef> types_;
  std::vector<std::string> type_names_;
  GraphArrays arrays_;
  std::vector<ObjectReference> late_;
  uint64_t objects_ = 0, total_bytes_ = 0;
  std::unique_ptr<NodeAllocations> allocations_;
  mutable std::vector<NodeId> by_address_;  // made when it is asked for
  mutable int finds_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_GRAPH_H_
