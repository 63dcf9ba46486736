#include "readers/objects/object_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "format/stream/varint.h"

namespace pymemrun {
namespace {

// The first byte of a node's details says which of them follow.
enum : uint8_t { kHasLength = 1, kHasText = 2, kHasHash = 4, kHasLine = 8 };

std::string NameOf(const ObjectTypeDef& type) {
  if (type.module().empty() || type.module() == "builtins") return type.name();
  return absl::StrCat(type.module(), ".", type.name());
}

// Takes a number of details that were written here.
uint64_t Take(absl::string_view* bytes) {
  uint64_t value = 0;
  TakeVarint(bytes, &value);
  return value;
}

NodeDetails TakeDetails(absl::string_view* bytes) {
  NodeDetails details;
  const auto has = static_cast<uint8_t>(bytes->front());
  bytes->remove_prefix(1);
  if (has & kHasLength) details.length = Take(bytes);
  if (has & kHasText) {
    const uint64_t size = Take(bytes);
    details.text = bytes->substr(0, size);
    bytes->remove_prefix(size);
  }
  if (has & kHasHash) details.hash = Take(bytes);
  if (has & kHasLine) details.line = static_cast<uint32_t>(Take(bytes));
  return details;
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
  std::string details(
      1, static_cast<char>((node.length.has_value() ? kHasLength : 0) |
                           (node.has_text() ? kHasText : 0) |
                           (node.text_hash != 0 ? kHasHash : 0) |
                           (node.line != 0 ? kHasLine : 0)));
  if (node.length.has_value()) AppendVarint(*node.length, &details);
  if (node.has_text()) {
    AppendVarint(node.text.size(), &details);
    details.append(node.text.data(), node.text.size());
  }
  if (node.text_hash != 0) AppendVarint(node.text_hash, &details);
  if (node.line != 0) AppendVarint(node.line, &details);
  details_.append(details.data(), details.size());
}

void ObjectGraph::AddNode(const ObjectNode& node) {
  if (!omits_details_) AppendDetails(node);
  addresses_.push_back(node.address);
  if (node.size_bytes >= kLargeSize) {
    large_sizes_[nodes()] = node.size_bytes;
  }
  sizes_.push_back(
      static_cast<uint32_t>(std::min<uint64_t>(node.size_bytes, kLargeSize)));
  flags_.push_back(static_cast<uint8_t>(node.flags));
  types_of_.push_back(node.type);
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
  targets_.push_back(reference.target);
  kinds_.push_back(static_cast<uint8_t>(reference.kind));
  if (!omits_details_) names_of_.push_back(reference.name);
  return absl::OkStatus();
}

// Of the nodes below `end` that had no references yet they begin here.
void ObjectGraph::BeginEdges(size_t end) {
  while (first_edge_.size() < end) {
    first_edge_.push_back(static_cast<uint32_t>(targets_.size()));
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
  std::stable_sort(late_.begin(), late_.end(),
                   [](const ObjectReference& a, const ObjectReference& b) {
                     return a.from < b.from;
                   });
  while (!late_.empty() && late_.back().from >= nodes()) {
    late_.pop_back();
    ++facts_.lost_references;
  }
  size_t left = late_.size(), to = targets_.size() + left;
  size_t from = targets_.size();
  targets_.resize(to);
  kinds_.resize(to);
  if (!omits_details_) names_of_.resize(to);
  for (NodeId node = nodes(); left > 0;) {
    --node;
    first_edge_[node + 1] = static_cast<uint32_t>(to);
    for (; left > 0 && late_[left - 1].from == node; --left) {
      const ObjectReference& reference = late_[left - 1];
      targets_[--to] = reference.target;
      kinds_[to] = static_cast<uint8_t>(reference.kind);
      if (!omits_details_) names_of_[to] = reference.name;
    }
    for (; from > first_edge_[node]; --from) {
      targets_[--to] = targets_[from - 1];
      kinds_[to] = kinds_[from - 1];
      if (!omits_details_) names_of_[to] = names_of_[from - 1];
    }
  }
  late_ = {};
}

void ObjectGraph::DropLost() {
  const NodeId count = nodes();
  if (std::all_of(targets_.begin(), targets_.end(),
                  [count](NodeId target) { return target < count; })) {
    return;
  }
  uint32_t to = 0, from = 0;
  for (NodeId node = 0; node < count; ++node) {
    const uint32_t end = first_edge_[node + 1];
    first_edge_[node] = to;
    for (; from < end; ++from) {
      if (targets_[from] >= count) {
        ++facts_.lost_references;
        continue;
      }
      targets_[to] = targets_[from];
      kinds_[to] = kinds_[from];
      if (!omits_details_) names_of_[to] = names_of_[from];
      ++to;
    }
  }
  first_edge_[count] = to;
  targets_.resize(to);
  kinds_.resize(to);
  if (!omits_details_) names_of_.resize(to);
}

NodeId ObjectGraph::SourceOf(uint32_t edge) const {
  const auto above =
      std::upper_bound(first_edge_.begin(), first_edge_.end(), edge);
  return static_cast<NodeId>(above - first_edge_.begin() - 1);
}

uint64_t ObjectGraph::size_bytes(NodeId node) const {
  if (sizes_[node] != kLargeSize) return sizes_[node];
  return large_sizes_.at(node);
}

void ObjectGraph::SetType(NodeId node, uint32_t type) {
  objects_ += types_[types_of_[node]].synthetic();
  types_of_[node] = type;
  objects_ -= types_[type].synthetic();
}

NodeDetails ObjectGraph::details(NodeId node) const {
  if (omits_details_) return NodeDetails();
  absl::string_view rest(details_.data(), details_.size());
  rest.remove_prefix(details_at_[node / kDetailsStep]);
  NodeDetails details = TakeDetails(&rest);
  for (NodeId i = 0; i < node % kDetailsStep; ++i) details = TakeDetails(&rest);
  return details;
}

NodeId ObjectGraph::Find(uint64_t address) const {
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
  if (found == by_address_.end() || addresses_[*found] != address ||
      address == 0) {
    return kNoNode;
  }
  return *found;
}

}  // namespace pymemrun
