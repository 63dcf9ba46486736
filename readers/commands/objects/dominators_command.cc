#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/findings/retained_tree.h"
#include "readers/objects/graph/object_text.h"
#include "readers/options/option_values.h"
#include "readers/output/output_buffer.h"
#include "readers/pictures/chart/treemap.h"
#include "text/fitted_text.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// Light, so that text on them is legible.
constexpr std::array<absl::string_view, 9> kColors = {
    "#a0cbe8", "#ffbe7d", "#8cd17d", "#fabfd2", "#d4a6c8",
    "#f1ce63", "#86bcb6", "#d7b5a6", "#c9d4e0"};
constexpr absl::string_view kOtherColor = "#dcdcdc";

// What is coloured alike: kinds of Python's own types, packages of others.
std::string GroupOf(const ObjectGraph& graph, const RetainedItem& item) {
  if (item.type == kManyTypes) return "small objects";
  const ObjectTypeDef& type = graph.types()[item.type];
  if (type.synthetic()) return "roots";
  if (!type.module().empty() && type.module() != "builtins") {
    return absl::StrCat("classes of ",
                        type.module().substr(0, type.module().find('.')));
  }
  // Never deleted, so no destructor runs at exit.
  static const auto* const kinds =
      new absl::flat_hash_map<absl::string_view, absl::string_view>{
          {"dict", "containers"},
          {"list", "containers"},
          {"tuple", "containers"},
          {"set", "containers"},
          {"frozenset", "containers"},
          {"str", "text and bytes"},
          {"bytes", "text and bytes"},
          {"bytearray", "text and bytes"},
          {"module", "modules"},
          {"function", "code"},
          {"code", "code"},
          {"type", "code"}};
  const auto kind = kinds->find(type.name());
  return std::string(kind == kinds->end() ? "other built-in types"
                                          : kind->second);
}

// A box of many small objects has no node, and no address to show.
Treemap::Box BoxOf(ObjectAnalysis* analysis, const RetainedItem& item) {
  const ObjectGraph& graph = analysis->graph();
  Treemap::Box box;
  box.parent = item.parent;
  box.weight = static_cast<double>(item.retained_bytes);
  box.detail = ShortBytes(box.weight);
  if (item.node == kNoNode) {
    box.label = Counted(item.objects, "small object");
    if (item.type != kManyTypes) {
      box.label = absl::StrCat(Counted(item.objects, "object"), " of ",
                               graph.type_name(item.type));
    }
    return box;
  }
  // The position in a list would be counted anew for each.
  if (item.edge != kNoEdge && graph.kind(item.edge) != EDGE_INDEX) {
    box.label = absl::StrCat(EdgeText(graph, item.edge), " ");
  }
  const std::string value = ValueText(graph, item.node);
  absl::StrAppend(&box.label, KindText(graph, item.node),
                  value.empty() ? "" : " ", value);
  const std::string address = AddressText(graph, item.node);
  box.tip = absl::StrFormat(
      "%.1f %% of all, own size %s%s",
      100 * analysis->ShareOf(item.retained_bytes),
      HumanBytes(static_cast<double>(graph.size_bytes(item.node))),
      address.empty() ? "" : ", " + address);
  return box;
}

// Colours go to the groups with most bytes, where an object counts without
// those within it. A parent comes before its children, so one pass subtracts
// them.
void AddGroups(const ObjectGraph& graph, const std::vector<RetainedItem>& items,
               Treemap* map) {
  std::vector<double> own;
  for (const RetainedItem& item : items) {
    own.push_back(static_cast<double>(item.retained_bytes));
    if (own.size() > 1) own[item.parent] -= own.back();
  }
  absl::flat_hash_map<std::string, double> bytes;
  for (size_t i = 0; i < items.size(); ++i) {
    bytes[GroupOf(graph, items[i])] += own[i];
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, sum] : bytes) order.push_back({-sum, name});
  std::sort(order.begin(), order.end());
  absl::flat_hash_map<std::string, uint32_t> numbers;
  for (const auto& [sum, name] : order) {
    if (map->groups.size() == kColors.size()) break;
    numbers[name] = static_cast<uint32_t>(map->groups.size());
    map->groups.push_back({name, std::string(kColors[map->groups.size()])});
  }
  // Groups without a colour of their own share one.
  const auto other = static_cast<uint32_t>(map->groups.size());
  if (order.size() > numbers.size()) {
    map->groups.push_back({"others", std::string(kOtherColor)});
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const auto found = numbers.find(GroupOf(graph, items[i]));
    map->boxes[i].group = found == numbers.end() ? other : found->second;
  }
}

// Boxes within boxes, as SVG: what `top` keeps alive. Small objects of one box
// stand together.
void DrawDominators(NodeId top, ObjectAnalysis* analysis,
                    OutputBuffer* output) {
  const auto items = LargestRetained(analysis, top, RetainedLimits());
  Treemap map;
  map.title = "What keeps memory alive";
  map.subtitle = absl::StrCat(
      top == kRootNode ? "All objects" : NodeText(analysis->graph(), top), ": ",
      HumanBytes(static_cast<double>(items[0].retained_bytes)),
      ". Freeing a box frees everything inside it.");
  for (const RetainedItem& item : items) {
    map.boxes.push_back(BoxOf(analysis, item));
  }
  AddGroups(analysis->graph(), items, &map);
  PrintTreemap(map, output);
}

// The most children of one object that are listed.
constexpr size_t kMostChildren = 10;

class DominatorsCommand final : public ObjectsCommand {
 public:
  DominatorsCommand()
      : ObjectsCommand(
            "dominators", "the dominator tree: which objects free which others",
            "Shows the dominator tree: below each object are the objects that "
            "would be freed with it.\n\nFor each object the ten that retain "
            "most are listed, if each retains at least 1 % of all bytes. "
            "--treemap draws nested boxes instead, each as large as the memory "
            "that its object keeps alive. The empty part of a box is the "
            "object's own size, or too small to draw.") {}
  std::vector<OldName> OldNames() const override {
    return {{"treemap", {"--treemap"}}};
  }

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    app->add_option("ADDR", object_, "Start with this object (the root).")
        ->option_text("[ADDR]");
    AddParsed(
        app, "--depth", &depth_,
        [](absl::string_view text) { return ParseNumber(text, 1, 1000); }, "N",
        "Show N levels (5).");
    AddParsed(
        app, "--min", &least_bytes_, ParseBytes, "SIZE",
        "Show objects that retain at least SIZE (a hundredth of all bytes).");
    app->add_flag("--treemap", treemap_, "Draw the tree as nested boxes, SVG.");
    AddTable(app, 100, "object");
    Exclude(app, {"--treemap"},
            {"--depth", "--min", "--limit", "--csv", "--json"});
  }

 private:
  std::string OfOneRun() const override { return treemap_ ? "a treemap" : ""; }
  std::string NotForTerminal() const override {
    return treemap_ ? "pictures" : "";
  }
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const NodeId top = object_.empty() ? kRootNode : NamedNode(graph, console);
    if (top == kNoNode) return kExitFailed;
    if (treemap_) {
      DrawDominators(top, analysis, output);
      return kExitOk;
    }
    least_ = least_bytes_.value_or(analysis->reached_bytes() / 100);
    Table table;
    table.headings = {{"retained_bytes", "retained", CellLook::kBytes},
                      {"address", "address"},
                      {"share", "share", CellLook::kShare},
                      {"bytes", "size", CellLook::kBytes},
                      {"type", "type", CellLook::kName},
                      {"value", "value", CellLook::kName}};
    std::vector<uint64_t> depths;
    struct Open {
      NodeId node;
      uint64_t depth;
    };
    // Depth first by a stack: the tree may be as deep as a linked list is long.
    std::vector<Open> left = {{top, 0}};
    while (!left.empty() && !IsFull(table.rows.size())) {
      const Open open = left.back();
      left.pop_back();
      AddRow(analysis, open.node, open.depth, &table);
      depths.push_back(open.depth);
      if (open.depth == depth_) continue;
      for (const NodeId child : LargestChildren(analysis, open.node)) {
        left.push_back({child, open.depth + 1});
      }
    }
    if (!table_.as_text()) AddDepths(depths, &table);
    Print(top == kRootNode
              ? absl::StrCat(
                    HumanBytes(static_cast<double>(analysis->reached_bytes())),
                    " are alive. Freeing an object frees everything below it.")
              : ObjectSentence(analysis, top),
          table, output);
    return kExitOk;
  }

  void AddRow(ObjectAnalysis* analysis, NodeId node, uint64_t depth,
              Table* table) const {
    const ObjectGraph& graph = analysis->graph();
    const uint64_t retained = analysis->retained(node);
    const std::string address = AddressText(graph, node);
    const std::string value = ValueText(graph, node);
    // Text shows the level by how far in the type stands.
    const std::string indent =
        table_.as_text() ? std::string(2 * depth, ' ') : "";
    table->rows.push_back({retained, address.empty() ? Cell() : Cell(address),
                           analysis->ShareOf(retained), graph.size_bytes(node),
                           absl::StrCat(indent, KindText(graph, node)),
                           value.empty() ? Cell() : Cell(value)});
    table->places = table->rows.size();
  }

  // In front of the others.
  static void AddDepths(const std::vector<uint64_t>& depths, Table* table) {
    table->headings.insert(table->headings.begin(), {"depth", "depth"});
    for (size_t i = 0; i < depths.size(); ++i) {
      table->rows[i].insert(table->rows[i].begin(), Cell(depths[i]));
    }
  }

  // The smallest first, so that the stack of the caller gives the largest
  // first.
  std::vector<NodeId> LargestChildren(ObjectAnalysis* analysis,
                                      NodeId node) const {
    std::vector<NodeId> children;
    for (const NodeId child : analysis->children().Of(node)) {
      if (analysis->retained(child) >= least_) children.push_back(child);
    }
    std::sort(children.begin(), children.end(), [&](NodeId a, NodeId b) {
      return std::pair(analysis->retained(b), a) <
             std::pair(analysis->retained(a), b);
    });
    if (children.size() > kMostChildren) children.resize(kMostChildren);
    std::reverse(children.begin(), children.end());
    return children;
  }

  bool treemap_ = false;
  uint64_t depth_ = 5;
  std::optional<uint64_t> least_bytes_;
  uint64_t least_ = 0;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsDominatorsCommand() {
  return std::make_unique<DominatorsCommand>();
}

}  // namespace pymemrun
