#include "readers/export/objects/heap_snapshot.h"

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "readers/export/objects/folded_leaves.h"
#include "readers/objects/graph/object_text.h"
#include "text/escape.h"

namespace pymemrun {
namespace {

// Numbers for each node of the snapshot. Edges name their target by the index
// of its first number.
constexpr uint64_t kNodeFields = 7;

// Indexes into "node_types" and "edge_types" below.
enum NodeType {
  kString = 2,
  kObject = 3,
  kCode = 4,
  kClosure = 5,
  kNumber = 7,
  kSynthetic = 9
};
enum EdgeType {
  kContext = 0,
  kElement = 1,
  kProperty = 2,
  kInternal = 3,
  kWeak = 6
};

class SnapshotWriter {
 public:
  SnapshotWriter(const ObjectGraph& graph, uint64_t most_nodes,
                 OutputBuffer* output)
      : graph_(graph), output_(*output), leaves_(graph, most_nodes) {
    FindPositions();
  }

  // The counts come first in the file, so edges are counted before anything is
  // written. Strings come last: they are collected on the way.
  uint64_t Write() {
    uint64_t edges = 0;
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (!leaves_.IsFolded(node)) edges += EdgesOf(node);
    }
    output_.Append(absl::StrCat(kMeta, graph_.nodes() - leaves_.count(),
                                ",\"edge_count\":", edges,
                                ",\"trace_function_count\":0},\n\"nodes\":["));
    WriteNodes();
    output_.Append("],\n\"edges\":[");
    WriteEdges();
    output_.Append(
        "],\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],"
        "\"locations\":[],\n\"strings\":[");
    std::string text;
    for (size_t i = 0; i < strings_.size(); ++i) {
      text = i == 0 ? "" : ",\n";
      AppendJsonString(strings_[i], &text);
      output_.Append(text);
    }
    output_.Append("]}\n");
    return leaves_.count();
  }

 private:
  // The format describes itself; the tools expect V8's own names and order.
  static constexpr char kMeta[] =
      R"({"snapshot":{"meta":{"node_fields":["type","name","id","self_size",)"
      R"("edge_count","trace_node_id","detachedness"],"node_types":[["hidden",)"
      R"("array","string","object","code","closure","regexp","number","native",)"
      R"("synthetic","concatenated string","sliced string","symbol","bigint"],)"
      R"("string","number","number","number","number","number"],)"
      R"("edge_fields":["type","name_or_index","to_node"],"edge_types":)"
      R"([["context","element","property","internal","hidden","shortcut",)"
      R"("weak"],"string_or_number","node"],"trace_function_info_fields":[],)"
      R"("trace_node_fields":[],"sample_fields":[],"location_fields":[]},)"
      R"("node_count":)";

  // The position of each node among those that are written.
  void FindPositions() {
    positions_.resize(graph_.nodes());
    uint32_t position = 0;
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      positions_[node] = position;
      position += !leaves_.IsFolded(node);
    }
  }
  uint64_t EdgesOf(NodeId node) const {
    uint64_t count = 0;
    for (uint32_t e = graph_.first_edge(node); e < graph_.first_edge(node + 1);
         ++e) {
      count += !leaves_.IsFolded(graph_.target(e));
    }
    return count;
  }
  uint64_t StringOf(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return found->second;
  }

  // V8 gives objects odd ids. The two zeros: no allocation trace, and unknown
  // whether detached.
  void WriteNodes() {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (leaves_.IsFolded(node)) continue;
      std::string name;
      const NodeType type = Describe(node, &name);
      output_.Append(
          absl::StrCat(node == 0 ? "" : ",\n", static_cast<int>(type), ",",
                       StringOf(name), ",", uint64_t{node} * 2 + 1, ",",
                       leaves_.size_bytes(node), ",", EdgesOf(node), ",0,0"));
    }
  }
  // The nearest kind of JavaScript's, by which the tools group and colour.
  NodeType Describe(NodeId node, std::string* name) const {
    const std::string& type = graph_.type_name(graph_.type(node));
    *name = type;
    const std::string value = ValueText(graph_, node);
    if (graph_.is_synthetic(node)) {
      if (!value.empty()) *name = value;
      return kSynthetic;
    }
    if (type == "str" || type == "bytes") {
      *name = value;
      return kString;
    }
    if (type == "int" || type == "float") return kNumber;
    if (!value.empty()) absl::StrAppend(name, " ", value);
    if (type == "code") return kCode;
    return type == "function" ? kClosure : kObject;
  }

  // Edges have no source: they follow in the order of nodes, each with as many
  // as its edge_count says. A folded element still takes its index.
  void WriteEdges() {
    bool is_first = true;
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      uint64_t index = 0;
      for (uint32_t e = graph_.first_edge(node);
           e < graph_.first_edge(node + 1); ++e) {
        const uint64_t at = graph_.kind(e) == EDGE_INDEX ? index++ : 0;
        if (leaves_.IsFolded(graph_.target(e))) continue;
        const EdgeType type = TypeOf(graph_.kind(e));
        output_.Append(
            absl::StrCat(is_first ? "" : ",\n", static_cast<int>(type), ",",
                         type == kElement ? at : StringOf(NameOf(e)), ",",
                         uint64_t{positions_[graph_.target(e)]} * kNodeFields));
        is_first = false;
      }
    }
  }
  // Chrome counts weak edges for nothing that is kept alive, either.
  static EdgeType TypeOf(EdgeKind kind) {
    switch (kind) {
      case EDGE_ATTRIBUTE:
      case EDGE_VALUE:
        return kProperty;
      case EDGE_INDEX:
        return kElement;
      case EDGE_CELL:
      case EDGE_LOCAL:
        return kContext;
      case EDGE_WEAK:
        return kWeak;
      default:
        return kInternal;
    }
  }
  // A dict's entry is named by its key.
  std::string NameOf(uint32_t edge) const {
    const absl::string_view name = graph_.edge_name(edge);
    if (!name.empty()) return std::string(name);
    const NodeId key = KeyOf(graph_, edge);
    if (key == kNoNode) return EdgeText(graph_, edge);
    const NodeDetails details = graph_.details(key);
    return details.text.has_value() ? std::string(*details.text)
                                    : NodeText(graph_, key);
  }

  const ObjectGraph& graph_;
  OutputBuffer& output_;
  const FoldedLeaves leaves_;
  std::vector<uint32_t> positions_;
  absl::flat_hash_map<std::string, uint64_t> numbers_;
  std::vector<std::string> strings_;
};

}  // namespace

uint64_t WriteHeapSnapshot(const ObjectGraph& graph, uint64_t most_nodes,
                           OutputBuffer* output) {
  return SnapshotWriter(graph, most_nodes, output).Write();
}

}  // namespace pymemrun
