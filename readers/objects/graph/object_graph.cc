#include "readers/objects/graph/object_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "readers/objects/graph/dump_facts.h"

namespace pymemrun {
namespace {

std::string NameOf(const ObjectTypeDef& type) {
  if (type.module().empty() || type.module() == "builtins") return type.name();
  return absl::StrCat(type.module(), ".", type.name());
}

}  // namespace

// Type 0 is an unknown type, and name 0 is empty.
ObjectGraph::ObjectGraph() {
  ObjectTypeDef unknown;
  unknown.set_name("?");
  AddType(unknown);
  AddName("");
}

void ObjectGraph::AddType(const ObjectTypeDef& type) {
  types_.push_back(type);
  type_names_.push_back(NameOf(type));
}

uint32_t ObjectGraph::AddName(absl::string_view text) {
  arrays_.name_bytes.append(text.data(), text.size());
  arrays_.name_ends.push_back(arrays_.name_bytes.size());
  return name_count() - 1;
}

void ObjectGraph::AppendDetails(const ObjectNode& node) {
  // An index into the details, so that those of a node are found without
  // reading all.
  if (nodes() % GraphArrays::kDetailsStep == 0) {
    arrays_.details_at.push_back(arrays_.details.size());
  }
  std::string details;
  AppendNodeDetails(node, &details);
  arrays_.details.append(details.data(), details.size());
}

// One array for each field instead of one struct for each node: an analysis
// reads one or two fields of all nodes, and arrays can be mapped from an index.
void ObjectGraph::AddNode(const ObjectNode& node) {
  if (!omits_details_) AppendDetails(node);
  arrays_.addresses.push_back(node.address);
  if (node.beside_bytes > 0) {
    arrays_.besides.Add(nodes(), {node.beside, node.beside_bytes});
  }
  // Sizes of 4 GiB or more are rare: they have a table of their own.
  constexpr uint64_t kLarge = GraphArrays::kLargeSize;
  if (node.size_bytes >= kLarge) {
    arrays_.large_nodes.push_back(nodes());
    arrays_.large_sizes.push_back(node.size_bytes);
  }
  arrays_.sizes.push_back(
      static_cast<uint32_t>(std::min(node.size_bytes, kLarge)));
  arrays_.flags.push_back(static_cast<uint8_t>(node.flags));
  arrays_.types.push_back(node.type);
  if (!types_[node.type].synthetic()) {
    ++objects_;
    total_bytes_ += node.size_bytes;
  }
}

absl::Status ObjectGraph::AddReference(const ObjectReference& reference) {
  // MergeLate() uses 32-bit counts.
  if (arrays_.targets.size() + late_.size() + 1 >=
      std::numeric_limits<uint32_t>::max()) {
    return absl::ResourceExhaustedError(
        "the dump has more references than can be read");
  }
  // References usually come in the order of their source. One that comes after
  // those of a later source waits for MergeLate().
  if (finished() || reference.from + 1 < arrays_.first_edges.size()) {
    late_.push_back(reference);
    return absl::OkStatus();
  }
  BeginEdges(reference.from + 1);
  arrays_.targets.push_back(reference.target);
  arrays_.kinds.push_back(static_cast<uint8_t>(reference.kind));
  if (!omits_details_) arrays_.names.push_back(reference.name);
  return absl::OkStatus();
}

// The edges of nodes below `end` without references so far start here.
void ObjectGraph::BeginEdges(size_t end) {
  while (arrays_.first_edges.size() < end) {
    arrays_.first_edges.push_back(
        static_cast<uint32_t>(arrays_.targets.size()));
  }
}

void ObjectGraph::Finish() {
  BeginEdges(nodes() + size_t{1});
  MergeLate();
  DropLost();
}

// Inserts the late references among the others, in place: a second copy of the
// arrays would take as much memory again.
void ObjectGraph::MergeLate() {
  if (late_.empty()) return;
  GrownArray<uint32_t>& first_edges = arrays_.first_edges;
  GrownArray<NodeId>& targets = arrays_.targets;
  GrownArray<uint8_t>& kinds = arrays_.kinds;
  GrownArray<uint32_t>& names = arrays_.names;
  std::stable_sort(late_.begin(), late_.end(),
                   [](const ObjectReference& a, const ObjectReference& b) {
                     return a.from < b.from;
                   });
  // Sources that the file lacks.
  while (!late_.empty() && late_.back().from >= nodes()) {
    late_.pop_back();
    ++facts_.lost_references;
  }
  // Fills the enlarged arrays from the end: nothing is overwritten before it
  // was moved.
  size_t left = late_.size(), to = targets.size() + left;
  size_t from = targets.size();
  targets.resize(to);
  kinds.resize(to);
  if (!omits_details_) names.resize(to);
  for (NodeId node = nodes(); left > 0;) {
    --node;
    // The edges of the node end where those of the next one start.
    first_edges[node + 1] = static_cast<uint32_t>(to);
    for (; left > 0 && late_[left - 1].from == node; --left) {
      const ObjectReference& reference = late_[left - 1];
      targets[--to] = reference.target;
      kinds[to] = static_cast<uint8_t>(reference.kind);
      if (!omits_details_) names[to] = reference.name;
    }
    for (; from > first_edges[node]; --from) {
      targets[--to] = targets[from - 1];
      kinds[to] = kinds[from - 1];
      if (!omits_details_) names[to] = names[from - 1];
    }
  }
  late_ = {};
}

// Targets that the file lacks are known only now. Moves the other references
// down, in place.
void ObjectGraph::DropLost() {
  const NodeId count = nodes();
  GrownArray<uint32_t>& first_edges = arrays_.first_edges;
  GrownArray<NodeId>& targets = arrays_.targets;
  GrownArray<uint8_t>& kinds = arrays_.kinds;
  GrownArray<uint32_t>& names = arrays_.names;
  // Usually no target is missing.
  if (std::all_of(targets.begin(), targets.end(),
                  [count](NodeId target) { return target < count; })) {
    return;
  }
  uint32_t to = 0, from = 0;
  for (NodeId node = 0; node < count; ++node) {
    const uint32_t end = first_edges[node + 1];
    first_edges[node] = to;
    for (; from < end; ++from) {
      if (targets[from] >= count) {
        ++facts_.lost_references;
        continue;
      }
      targets[to] = targets[from];
      kinds[to] = kinds[from];
      if (!omits_details_) names[to] = names[from];
      ++to;
    }
  }
  first_edges[count] = to;
  targets.resize(to);
  kinds.resize(to);
  if (!omits_details_) names.resize(to);
}

NodeId ObjectGraph::SourceOf(uint32_t edge) const {
  // Binary search: edges are in the order of their source.
  // The last node whose edges start at this edge or before.
  NodeId node = 0, end = nodes();
  while (end - node > 1) {
    const NodeId middle = node + (end - node) / 2;
    (first_edge(middle) <= edge ? node : end) = middle;
  }
  return node;
}

uint64_t ObjectGraph::size_bytes(NodeId node) const {
  const uint32_t size = arrays_.sizes[node];
  if (size != GraphArrays::kLargeSize) return size;
  const GrownArray<uint32_t>& nodes = arrays_.large_nodes;
  return arrays_.large_sizes[static_cast<size_t>(
      std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin())];
}

void ObjectGraph::SetType(NodeId node, uint32_t type) {
  objects_ += is_synthetic(node);
  arrays_.types[node] = type;
  objects_ -= types_[type].synthetic();
}

NodeDetails ObjectGraph::details(NodeId node) const {
  if (omits_details_) return NodeDetails();
  constexpr NodeId kStep = GraphArrays::kDetailsStep;
  absl::string_view rest(arrays_.details.data(), arrays_.details.size());
  rest.remove_prefix(arrays_.details_at[node / kStep]);
  NodeDetails details = TakeNodeDetails(&rest);
  // At most kDetailsStep - 1 others are skipped.
  for (NodeId i = 0; i < node % kStep; ++i) details = TakeNodeDetails(&rest);
  return details;
}

void ObjectGraph::TakeArrays(GraphArrays arrays) {
  arrays_ = std::move(arrays);
  for (NodeId node = 0; node < nodes(); ++node) {
    if (is_synthetic(node)) continue;
    ++objects_;
    total_bytes_ += size_bytes(node);
  }
}

// Without an index by address a search takes linear time, and no memory.
NodeId ObjectGraph::Find(uint64_t address) const {
  if (address == 0) return kNoNode;
  const GrownArray<uint64_t>& all = arrays_.addresses;
  // An index by address pays off after a few searches.
  constexpr int kFewFinds = 16;
  if (by_address_.empty() && finds_++ < kFewFinds) {
    const auto* const found = std::find(all.begin(), all.end(), address);
    return found == all.end() ? kNoNode
                              : static_cast<NodeId>(found - all.begin());
  }
  if (by_address_.empty()) {
    by_address_.resize(nodes());
    std::iota(by_address_.begin(), by_address_.end(), 0);
    std::sort(by_address_.begin(), by_address_.end(),
              [&all](NodeId a, NodeId b) { return all[a] < all[b]; });
  }
  const auto found = std::lower_bound(
      by_address_.begin(), by_address_.end(), address,
      [&all](NodeId node, uint64_t wanted) { return all[node] < wanted; });
  if (found == by_address_.end() || all[*found] != address) {
    return kNoNode;
  }
  return *found;
}

}  // namespace pymemrun
