// The object graph of a dump: arrays of nodes, and of references ordered by
// their source. A loader fills them, or they are in an index; analyses read
// them.
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

// Where and when objects of a dump were allocated, if it is known. The
// implementations are in readers/objects/blocks.

// The allocation of an object. It is that of the object's own block, unless it
// is uncertain that the block was allocated for it. Then it is the last
// enlargement of the block beside it, which holds a list's items.
struct NodeAllocation {
  uint32_t stack = 0;   // id in the run's index
  uint32_t thread = 0;  // id of the thread with its name at that time
  // Nothing: before the process was forked.
  std::optional<uint64_t> time_us;
  bool is_beside = false;
  // False: the block may have been allocated for an earlier object, see
  // FreeLists.
  bool is_sure = true;
};

// The allocations of a dump's objects, from its run file.
class NodeAllocations {
 public:
  virtual ~NodeAllocations() = default;

  // Returns nothing if it is unknown.
  virtual std::optional<NodeAllocation> Of(NodeId node) const = 0;
  // The number of the own line that allocated the node; 0: unknown.
  virtual uint32_t LineOf(NodeId node) const = 0;
  // The same if it is certain that this line made the object; otherwise 0.
  uint32_t SureLineOf(NodeId node) const {
    const auto allocation = Of(node);
    return allocation.has_value() && allocation->is_sure ? LineOf(node) : 0;
  }
  // "/app/cache.py:4 fill"; "" for 0.
  virtual const std::string& LineText(uint32_t line) const = 0;
  // Resolves ids of stacks and threads.
  virtual const RunIndex& index() const = 0;
  // Only a sample of allocations was recorded.
  virtual bool sampled() const = 0;
};

// Not thread safe while it is being filled.
class ObjectGraph {
 public:
  ObjectGraph();

  // Sets all arrays at once; only AddType() is needed besides. REQUIRES: the
  // arrays are consistent, as OpenIndex() checks.
  void TakeArrays(GraphArrays arrays);

  // Leaves out details of nodes and names of references. To be called first.
  void OmitDetails() { omits_details_ = true; }
  // Nodes come in their order. References come in any order, after their
  // source.
  void AddType(const ObjectTypeDef& type);
  // Returns the name's id.
  uint32_t AddName(absl::string_view text);
  void AddNode(const ObjectNode& node);
  // `target` may be added later. Fails if there are too many.
  absl::Status AddReference(const ObjectReference& reference);
  // To be called after everything was added, and again after more references.
  // Sorts references into place, and drops those to nodes that were never
  // added.
  void Finish();
  // Renumbers the targets added so far by `map`.
  template <typename Map>
  void MapTargets(Map map) {
    for (NodeId& target : arrays_.targets) target = map(target);
    for (ObjectReference& late : late_) late.target = map(late.target);
  }
  DumpFacts& facts() { return facts_; }
  const DumpFacts& facts() const { return facts_; }
  NodeId nodes() const { return static_cast<NodeId>(arrays_.types.size()); }
  // Without synthetic nodes.
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

  // Types by id; 0 is an unknown type.
  const std::vector<ObjectTypeDef>& types() const { return types_; }
  // "dict", "queue.Queue".
  const std::string& type_name(uint32_t type) const {
    return type_names_[type];
  }

  // The edges of a node are numbered from first_edge(node) up to, but not
  // including, first_edge(node + 1).
  uint32_t first_edge(NodeId node) const { return arrays_.first_edges[node]; }
  uint32_t degree(NodeId node) const {
    return first_edge(node + 1) - first_edge(node);
  }
  NodeId target(uint32_t edge) const { return arrays_.targets[edge]; }
  NodeId SourceOf(uint32_t edge) const;
  EdgeKind kind(uint32_t edge) const {
    return static_cast<EdgeKind>(arrays_.kinds[edge]);
  }
  // Empty: it has no name.
  absl::string_view edge_name(uint32_t edge) const {
    return name(name_id(edge));
  }
  uint32_t name_id(uint32_t edge) const {
    return omits_details_ ? 0 : arrays_.names[edge];
  }
  // Names by id; 0 is the empty name.
  uint32_t name_count() const {
    return static_cast<uint32_t>(arrays_.name_ends.size());
  }
  // Valid until the next AddName().
  absl::string_view name(uint32_t id) const {
    const uint64_t begin = id == 0 ? 0 : arrays_.name_ends[id - 1];
    return {arrays_.name_bytes.data() + begin, arrays_.name_ends[id] - begin};
  }
  // Arrays of details and names are empty if these were omitted.
  const GraphArrays& arrays() const { return arrays_; }

  // Null: allocations are unknown.
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
  mutable std::vector<NodeId> by_address_;  // built when it is first needed
  mutable int finds_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_OBJECT_GRAPH_H_
