#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "readers/export/profiles/heap_formats.h"
#include "readers/places/place_tree.h"
#include "readers/replay/heap/heap_stacks.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// A picture with more functions is unreadable.
constexpr size_t kMostFunctions = 80;
constexpr double kLeastFunction = 0.005, kLeastCall = 0.001;  // of all bytes

struct Function {
  Place place;
  double bytes = 0, own_bytes = 0;
  uint32_t open = 0;  // how often it is on the path to the current frame
};
struct Call {
  double bytes = 0;
  uint32_t open = 0;
};

class CallGraph {
 public:
  explicit CallGraph(const PlaceTree& tree);
  std::string Dot() const;

 private:
  using Pair = std::pair<uint32_t, uint32_t>;  // caller, callee

  void Enter(uint32_t node);
  void Leave(uint32_t node);
  // Null for an outermost frame, which has no caller.
  Call* CallOf(uint32_t node) {
    const uint32_t parent = tree_.nodes()[node].parent;
    return parent == 0 ? nullptr : &calls_[{ids_[parent], ids_[node]}];
  }
  std::vector<uint32_t> Largest() const;
  std::string NodeText(uint32_t function) const;

  const PlaceTree& tree_;
  const double all_bytes_;
  std::vector<uint32_t> ids_;  // by node: index into functions_
  std::vector<Function> functions_;
  absl::flat_hash_map<Pair, Call> calls_;
};

// Walks the tree, callers before what they call, by loops: it may be deep.
// `first` and `next` link the children of each node.
CallGraph::CallGraph(const PlaceTree& tree)
    : tree_(tree),
      all_bytes_(std::max(tree.nodes()[0].bytes, 1.0)),
      ids_(tree.nodes().size()) {
  const auto& nodes = tree.nodes();
  absl::flat_hash_map<Place, uint32_t> known;
  std::vector<uint32_t> first(nodes.size()), next(nodes.size());
  for (uint32_t node = 1; node < nodes.size(); ++node) {
    const auto [found, is_new] = known.try_emplace(
        nodes[node].place, static_cast<uint32_t>(functions_.size()));
    if (is_new) functions_.push_back({nodes[node].place});
    ids_[node] = found->second;
    next[node] = std::exchange(first[nodes[node].parent], node);
  }
  for (uint32_t node = first[0]; node != 0;) {
    Enter(node);
    if (first[node] != 0) {
      node = first[node];
      continue;
    }
    Leave(node);
    while (next[node] == 0 && nodes[node].parent != 0) {
      node = nodes[node].parent;
      Leave(node);
    }
    node = next[node];
  }
}

// A node's bytes include those of all below it. So a function, or a call, that
// is already on the path has been counted with them.
void CallGraph::Enter(uint32_t node) {
  const PlaceTree::Node& of = tree_.nodes()[node];
  Function& function = functions_[ids_[node]];
  function.own_bytes += of.self_bytes;
  if (function.open++ == 0) function.bytes += of.bytes;
  Call* const call = CallOf(node);
  if (call != nullptr && call->open++ == 0) call->bytes += of.bytes;
}

void CallGraph::Leave(uint32_t node) {
  --functions_[ids_[node]].open;
  Call* const call = CallOf(node);
  if (call != nullptr) --call->open;
}

std::vector<uint32_t> CallGraph::Largest() const {
  std::vector<uint32_t> order;
  for (uint32_t id = 0; id < functions_.size(); ++id) {
    if (functions_[id].bytes >= kLeastFunction * all_bytes_) {
      order.push_back(id);
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    return functions_[a].bytes > functions_[b].bytes;
  });
  if (order.size() > kMostFunctions) order.resize(kMostFunctions);
  return order;
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat(
      "\"",
      absl::StrReplaceAll(text,
                          {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}}),
      "\"");
}

// The file is printed without its folder.
std::string CallGraph::NodeText(uint32_t id) const {
  const Function& function = functions_[id];
  const Place& place = function.place;
  std::string label =
      TerminalText(place.function.empty() ? place.file : place.function);
  if (!place.function.empty() && !place.file.empty()) {
    absl::StrAppend(&label, "\n",
                    TerminalText(place.file.substr(place.file.rfind('/') + 1)),
                    ":", place.line);
  }
  absl::StrAppend(&label, "\n", HumanBytes(function.bytes), " (",
                  Percent(function.bytes / all_bytes_), "), itself ",
                  HumanBytes(function.own_bytes));
  // What a function holds itself makes its text larger and its colour stronger.
  const double share = function.own_bytes / all_bytes_;
  return absl::StrCat(
      "  f", id, " [label=", Quoted(label),
      ", tooltip=", Quoted(TerminalText(place.file)),
      absl::StrFormat(", fontsize=%.0f, fillcolor=\"0.08 %.2f 1\"];\n",
                      10 + 14 * std::sqrt(share), 0.05 + 0.6 * share));
}

// Graphviz lays out the picture: nodes first, then arrows between those that
// are shown.
std::string CallGraph::Dot() const {
  std::vector<bool> is_shown(functions_.size());
  const std::vector<uint32_t> shown = Largest();
  std::string text =
      "digraph live_bytes {\n"
      "  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  if (shown.size() < functions_.size()) {
    absl::StrAppend(
        &text, "  label=\"",
        Counted(functions_.size() - shown.size(), "smaller function"),
        " not shown\";\n");
  }
  for (const uint32_t id : shown) {
    is_shown[id] = true;
    text += NodeText(id);
  }
  std::vector<std::pair<Pair, double>> calls;
  for (const auto& [pair, call] : calls_) {
    if (is_shown[pair.first] && is_shown[pair.second] &&
        call.bytes >= kLeastCall * all_bytes_) {
      calls.emplace_back(pair, call.bytes);
    }
  }
  // By number: the order of a hash map would differ from run to run.
  std::sort(calls.begin(), calls.end());
  for (const auto& [pair, bytes] : calls) {
    absl::StrAppend(
        &text, "  f", pair.first, " -> f", pair.second,
        " [label=", Quoted(HumanBytes(bytes)),
        absl::StrFormat(", penwidth=%.1f];\n", 1 + 4 * bytes / all_bytes_));
  }
  return text + "}\n";
}

}  // namespace

std::string CallGraphDot(const HeapMoments& replay) {
  return CallGraph(
             HeapTree(GroupBy::kFunction, replay, {.folds_imports = true}))
      .Dot();
}

}  // namespace pymemrun
