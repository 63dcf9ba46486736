#include "readers/objects_index/check_arrays.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "format/limits.h"
#include "format/stream/status_util.h"
#include "readers/objects/node_details.h"

namespace pymemrun {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};

absl::Status Check(bool is_right, absl::string_view name) {
  if (is_right) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("expected a graph, found ", name, " that do not fit it"));
}

// So many, all below `limit`, or kNone where that may be.
bool AreBelow(const GrownArray<uint32_t>& items, size_t count, uint64_t limit,
              bool may_be_none = false) {
  // One higher, none is 0. No loop here ends early: most arrays are right, and
  // the compiler makes vectors of it.
  const uint32_t more = may_be_none ? 1 : 0;
  uint32_t most = 0;
  for (const uint32_t item : items) most = std::max(most, item + more);
  return items.size() == count && (count == 0 || most < limit + more);
}

// From 0 up to `last`; none is below the one before it.
bool AreBounds(const GrownArray<uint32_t>& items, size_t count, uint64_t last) {
  if (items.size() != count || items[0] != 0 || items[count - 1] != last) {
    return false;
  }
  bool rises = true;
  for (size_t i = 1; i < count; ++i) rises &= items[i - 1] <= items[i];
  return rises;
}

// Nodes that rise, each once.
bool AreSomeNodes(const GrownArray<uint32_t>& items, size_t nodes) {
  return AreBelow(items, items.size(), nodes) &&
         std::adjacent_find(items.begin(), items.end(),
                            [](uint32_t a, uint32_t b) { return a >= b; }) ==
             items.end();
}

bool AreSizes(const GrownArray<uint64_t>& items) {
  return std::all_of(items.begin(), items.end(),
                     [](uint64_t item) { return item <= kMaxSizeBytes; });
}

bool AreLargeSizes(const GraphArrays& graph) {
  const auto is_large = [&graph](uint32_t node) {
    return graph.sizes[node] == GraphArrays::kLargeSize;
  };
  return graph.large_sizes.size() == graph.large_nodes.size() &&
         AreSomeNodes(graph.large_nodes, graph.sizes.size()) &&
         AreSizes(graph.large_sizes) &&
         std::all_of(graph.large_nodes.begin(), graph.large_nodes.end(),
                     is_large) &&
         static_cast<size_t>(std::count(graph.sizes.begin(), graph.sizes.end(),
                                        GraphArrays::kLargeSize)) ==
             graph.large_nodes.size();
}

bool AreDetails(const GraphArrays& graph) {
  constexpr uint32_t kStep = GraphArrays::kDetailsStep;
  const size_t nodes = graph.addresses.size();
  if (graph.details_at.size() != (nodes + kStep - 1) / kStep) return false;
  absl::string_view rest(graph.details.data(), graph.details.size());
  for (size_t node = 0; node < nodes; ++node) {
    if (node % kStep == 0 &&
        graph.details_at[node / kStep] != graph.details.size() - rest.size()) {
      return false;
    }
    if (!SkipNodeDetails(&rest)) return false;
  }
  return rest.empty();
}

bool AreNames(const GraphArrays& graph) {
  const GrownArray<uint64_t>& ends = graph.name_ends;
  return ends.size() > 0 && ends.size() < kNone &&
         std::is_sorted(ends.begin(), ends.end()) &&
         ends[ends.size() - 1] == graph.name_bytes.size();
}

absl::Status CheckGraph(const GraphArrays& graph, size_t types) {
  const size_t nodes = graph.addresses.size(), edges = graph.targets.size();
  RETURN_IF_ERROR(Check(nodes > 0 && nodes <= kMaxObjects, "nodes"));
  RETURN_IF_ERROR(Check(edges < kNone, "references"));
  RETURN_IF_ERROR(Check(graph.sizes.size() == nodes, "sizes"));
  RETURN_IF_ERROR(Check(AreBelow(graph.types, nodes, types), "types"));
  RETURN_IF_ERROR(Check(graph.flags.size() == nodes, "flags"));
  RETURN_IF_ERROR(Check(AreBounds(graph.first_edges, nodes + 1, edges),
                        "first references"));
  RETURN_IF_ERROR(Check(AreBelow(graph.targets, edges, nodes), "targets"));
  RETURN_IF_ERROR(Check(graph.kinds.size() == edges, "kinds"));
  RETURN_IF_ERROR(Check(
      AreNames(graph) && AreBelow(graph.names, edges, graph.name_ends.size()),
      "names"));
  RETURN_IF_ERROR(Check(AreLargeSizes(graph), "large sizes"));
  const BesideBlocks& besides = graph.besides;
  RETURN_IF_ERROR(Check(AreSomeNodes(besides.nodes, nodes) &&
                            besides.addresses.size() == besides.nodes.size() &&
                            besides.bytes.size() == besides.nodes.size() &&
                            AreSizes(besides.bytes),
                        "blocks beside objects"));
  return Check(AreDetails(graph), "values");
}

// What a node retains has its own size in it.
bool AreRetained(const GraphArrays& graph,
                 const GrownArray<uint64_t>& retained) {
  if (retained.size() != graph.sizes.size()) return false;
  size_t large = 0;
  bool are_right = true;
  for (size_t node = 0; node < retained.size(); ++node) {
    const uint64_t size = graph.sizes[node] != GraphArrays::kLargeSize
                              ? graph.sizes[node]
                              : graph.large_sizes[large++];
    are_right &= retained[node] - size <= kMaxSizeBytes;  // below 0: far above
  }
  return are_right;
}

}  // namespace

absl::Status CheckArrays(const GraphArrays& graph, size_t types,
                         const StoredFindings& findings) {
  RETURN_IF_ERROR(CheckGraph(graph, types));
  const size_t nodes = graph.addresses.size(), edges = graph.targets.size();
  RETURN_IF_ERROR(
      Check(AreBelow(findings.dominators, nodes, nodes, /*may_be_none=*/true) &&
                findings.dominators[0] == kNone,
            "dominators"));
  RETURN_IF_ERROR(
      Check(AreRetained(graph, findings.retained), "retained sizes"));
  RETURN_IF_ERROR(Check(AreBounds(findings.first_parents, nodes + 1, edges) &&
                            AreBelow(findings.parent_edges, edges, edges),
                        "references backwards"));
  RETURN_IF_ERROR(
      Check(AreBelow(findings.distances, nodes, nodes, /*may_be_none=*/true),
            "distances"));
  RETURN_IF_ERROR(
      Check(AreBelow(findings.last_edges, nodes, edges, /*may_be_none=*/true),
            "chains"));
  return Check(findings.retained_by_type.size() == types,
               "retained sizes of types");
}

}  // namespace pymemrun
