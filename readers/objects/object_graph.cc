#include "readers/objects/object_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "readers/objects/node_details.h"

namespace pymemrun {
namespace {

std::string NameOf(const ObjectTypeDef& type) {
  if (type.module().empty() || type.module() == "builtins") return type.name();
  return absl::StrCat(type.module(), ".", type.name());
}

}  // namespace

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
  names_.emplace_back(text);
  return static_cast<uint32_t>(names_.size() - 1);
}

void ObjectGraph::AppendDetails(const ObjectNode& node) {
  if (types_of_.size() % kDetailsStep == 0) {
    details_at_.push_back(details_.size());
  }
  std::string details;
  AppendNodeDetails(node, &details);
  details_.append(details.data(), details.size());
}

void ObjectGraph::AddNode(const ObjectNode& node) {
  if (!omits_details_) AppendDetails(node);
  addresses_.own().push_back(node.address);
  if (node.beside_bytes > 0) {
    besides_.Add(nodes(), {node.beside, node.beside_bytes});
  }
  if (node.size_bytes >= kLargeSize) {
    large_sizes_[nodes()] = node.size_bytes;
  }
  sizes_.push_back(
      static_cast<uint32_t>(std::min<uint64_t>(node.size_bytes, kLargeSize)));
  flags_.own().push_back(static_cast<uint8_t>(node.flags));
  types_of_.own().push_back(node.type);
  if (!types_[node.type].synthetic()) {
    ++objects_;
    total_bytes_ += node.size_bytes;
  }
}

absl::Status ObjectGraph::AddReference(const ObjectReference& reference) {
  // MergeLate() counts in 32 bits.
  if (targets_.size() + late_.size() + 1 >=
      std::numeric_limits<uint32_t>::max()) {
    return absl::ResourceExhaustedError(
        "the dump has more references than can be read");
  }
  // That of the last node that has references is known.
  if (finished() || reference.from + 1 < first_edge_.size()) {
    late_.push_back(reference);
    return absl::OkStatus();
  }
  BeginEdges(reference.from + 1);
  targets_.own().push_back(reference.target);
  kinds_.own().push_back(static_cast<uint8_t>(reference.kind));
  if (!omits_details_) names_of_.own().push_back(reference.name);
  return absl::OkStatus();
}

// Of the nodes below `end` that had no references yet they begin here.
void ObjectGraph::BeginEdges(size_t end) {
  while (first_edge_.size() < end) {
    first_edge_.own().push_back(static_cast<uint32_t>(targets_.size()));
  }
}

void ObjectGraph::Finish() {
  BeginEdges(nodes() + size_t{1});
  MergeLate();
  DropLost();
}

// Moves references up to make room for the late ones of each node, from the
// last node on.
void ObjectGraph::MergeLate() {
  if (late_.empty()) return;
  GrownArray<uint32_t>& first_edges = first_edge_.own();
  GrownArray<NodeId>& targets = targets_.own();
  GrownArray<uint8_t>& kinds = kinds_.own();
  GrownArray<uint32_t>& names = names_of_.own();
  std::stable_sort(late_.begin(), late_.end(),
                   [](const ObjectReference& a, const ObjectReference& b) {
                     return a.from < b.from;
                   });
  while (!late_.empty() && late_.back().from >= nodes()) {
    late_.pop_back();
    ++facts_.lost_references;
  }
  size_t left = late_.size(), to = targets.size() + left;
  size_t from = targets.size();
  targets.resize(to);
  kinds.resize(to);
  if (!omits_details_) names.resize(to);
  for (NodeId node = nodes(); left > 0;) {
    --node;
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

void ObjectGraph::DropLost() {
  const NodeId count = nodes();
  GrownArray<uint32_t>& first_edges = first_edge_.own();
  GrownArray<NodeId>& targets = targets_.own();
  GrownArray<uint8_t>& kinds = kinds_.own();
  GrownArray<uint32_t>& names = names_of_.own();
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
  // The last node that begins at the edge or before it.
  NodeId node = 0, end = nodes();
  while (end - node > 1) {
    const NodeId middle = node + (end - node) / 2;
    (first_edge_[middle] <= edge ? node : end) = middle;
  }
  return node;
}

uint64_t ObjectGraph::size_bytes(NodeId node) const {
  if (stored_ != nullptr) return stored_->sizes[node];
  if (sizes_[node] != kLargeSize) return sizes_[node];
  return large_sizes_.at(node);
}

void ObjectGraph::SetType(NodeId node, uint32_t type) {
  objects_ += types_[types_of_[node]].synthetic();
  types_of_.own()[node] = type;
  objects_ -= types_[type].synthetic();
}

NodeDetails ObjectGraph::details(NodeId node) const {
  if (stored_ != nullptr) return stored_->details->Of(node);
  if (omits_details_) return NodeDetails();
  absl::string_view rest(details_.data(), details_.size());
  rest.remove_prefix(details_at_[node / kDetailsStep]);
  NodeDetails details = TakeNodeDetails(&rest);
  for (NodeId i = 0; i < node % kDetailsStep; ++i)
    details = TakeNodeDetails(&rest);
  return details;
}

void ObjectGraph::UseStored(const StoredGraph& stored) {
  addresses_.Use(&stored.addresses);
  stored_ = &stored;
  types_of_.Use(&stored.types);
  flags_.Use(&stored.flags);
  besides_.Use(stored);
  first_edge_.Use(&stored.first_edges);
  targets_.Use(&stored.targets);
  kinds_.Use(&stored.kinds);
  names_of_.Use(&stored.names);
  objects_ = stored.objects;
  total_bytes_ = stored.total_bytes;
}

uint32_t ObjectGraph::name_count() const {
  return stored_ != nullptr ? stored_->name_count
                            : static_cast<uint32_t>(names_.size());
}

absl::string_view ObjectGraph::name(uint32_t id) const {
  if (stored_ == nullptr) return names_[id];
  return stored_->name_texts->Of(id).text.value_or("");
}

GraphArrays ObjectGraph::arrays() const {
  return {addresses_.span(),  sizes_,          types_of_.span(),
          first_edge_.span(), targets_.span(), kinds_.span(),
          names_of_.span()};
}

NodeId ObjectGraph::Find(uint64_t address) const {
  if (address == 0) return kNoNode;
  // Who looks for many is quicker with an order of them.
  constexpr int kFewFinds = 16;
  if (stored_ != nullptr && finds_++ < kFewFinds) {
    const auto found = stored_->addresses.Find(address);
    return found.has_value() ? static_cast<NodeId>(*found) : kNoNode;
  }
  if (by_address_.empty()) {
    by_address_.resize(nodes());
    std::iota(by_address_.begin(), by_address_.end(), 0);
    std::sort(
        by_address_.begin(), by_address_.end(),
        [this](NodeId a, NodeId b) { return addresses_[a] < addresses_[b]; });
  }
  const auto found =
      std::lower_bound(by_address_.begin(), by_address_.end(), address,
                       [this](NodeId node, uint64_t wanted) {
                         return addresses_[node] < wanted;
                       });
  if (found == by_address_.end() || addresses_[*found] != address) {
    return kNoNode;
  }
  return *found;
}

}  // namespace pymemrun
