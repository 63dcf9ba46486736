// The object graph of a dump in memory: arrays of nodes, and of references in
// the order of the nodes they come from. Loaders fill it; analyses read it.
#ifndef PYMEMRUN_READERS_OBJECTS_OBJECT_GRAPH_H_
#define PYMEMRUN_READERS_OBJECTS_OBJECT_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/objects/object_node.h"
#include "format/trace.pb.h"
#include "readers/columns/number_column.h"
#include "readers/objects/beside_blocks.h"
#include "readers/objects/dump_facts.h"
#include "readers/objects/graph_arrays.h"
#include "readers/objects/node_allocations.h"
#include "readers/objects/stored_graph.h"

namespace pymemrun {

// Not thread safe while it is filled.
class ObjectGraph {
 public:
  ObjectGraph();

  // Instead of all that fills it but AddType(). `stored` must outlive it.
  void UseStored(const StoredGraph& stored);

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
    for (NodeId& target : targets_.own()) target = map(target);
    for (ObjectReference& late : late_) late.target = map(late.target);
  }
  DumpFacts& facts() { return facts_; }
  const DumpFacts& facts() const { return facts_; }
  NodeId nodes() const { return static_cast<NodeId>(types_of_.size()); }
  // Without synthetic ones.
  uint64_t objects() const { return objects_; }
  uint64_t references() const { return targets_.size(); }
  uint64_t total_bytes() const { return total_bytes_; }

  uint64_t address(NodeId node) const { return addresses_[node]; }
  uint64_t size_bytes(NodeId node) const;
  const BesideBlocks& besides() const { return besides_; }
  uint32_t type(NodeId node) const { return types_of_[node]; }
  uint32_t flags(NodeId node) const { return flags_[node]; }
  bool is_synthetic(NodeId node) const {
    return types_[types_of_[node]].synthetic();
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
  uint32_t first_edge(NodeId node) const { return first_edge_[node]; }
  uint32_t degree(NodeId node) const {
    return first_edge_[node + 1] - first_edge_[node];
  }
  NodeId target(uint32_t edge) const { return targets_[edge]; }
  NodeId SourceOf(uint32_t edge) const;
  EdgeKind kind(uint32_t edge) const {
    return static_cast<EdgeKind>(kinds_[edge]);
  }
  // Empty: it has none.
  absl::string_view edge_name(uint32_t edge) const {
    return name(name_id(edge));
  }
  uint32_t name_id(uint32_t edge) const {
    return omits_details_ ? 0 : names_of_[edge];
  }
  // Names by id, 0 is the empty one.
  uint32_t name_count() const;
  absl::string_view name(uint32_t id) const;
  // REQUIRES: the graph was loaded, and that with details.
  GraphArrays arrays() const;

  // Null: nothing is known of allocations.
  const NodeAllocations* allocations() const { return allocations_.get(); }
  void TakeAllocations(std::unique_ptr<NodeAllocations> allocations) {
    allocations_ = std::move(allocations);
  }

  // The node at this address, or kNoNode.
  NodeId Find(uint64_t address) const;

 private:
  static constexpr uint32_t kLargeSize = ~uint32_t{0};
  static constexpr NodeId kDetailsStep = 32;

  bool finished() const { return first_edge_.size() > types_of_.size(); }
  void AppendDetails(const ObjectNode& node);
  void BeginEdges(size_t end);
  void MergeLate();
  void DropLost();

  bool omits_details_ = false;
  DumpFacts facts_;
  std::vector<ObjectTypeDef> types_;
  std::vector<std::string> type_names_;
  std::vector<std::string> names_;
  NumberColumn<uint64_t> addresses_;
  NumberColumn<uint64_t> stored_sizes_;
  const StoredGraph* stored_ = nullptr;
  GrownArray<uint32_t> sizes_;  // kLargeSize: see large_sizes_
  absl::flat_hash_map<NodeId, uint64_t> large_sizes_;
  NumberColumn<uint32_t> types_of_;
  NumberColumn<uint8_t> flags_;
  // Of all nodes; where those of each kDetailsStep-th begin.
  GrownArray<char> details_;
  GrownArray<uint64_t> details_at_;
  BesideBlocks besides_;
  NumberColumn<uint32_t> first_edge_;
  NumberColumn<NodeId> targets_;
  NumberColumn<uint8_t> kinds_;
  NumberColumn<uint32_t> names_of_;
  std::vector<ObjectReference> late_;
  uint64_t objects_ = 0, total_bytes_ = 0;
  std::unique_ptr<NodeAllocations> allocations_;
  mutable std::vector<NodeId> by_address_;  // made when it is asked for
  mutable int finds_ = 0;                   // in stored addresses
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_OBJECT_GRAPH_H_
