#include "readers/objects_commands/dominator_picture.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/chart/treemap.h"
#include "readers/objects/object_text.h"
#include "readers/objects_findings/retained_tree.h"
#include "readers/objects_text/object_table.h"
#include "text/columns.h"
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

// Groups by the bytes of their objects without those within.
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
  const auto other = static_cast<uint32_t>(map->groups.size());
  if (order.size() > numbers.size()) {
    map->groups.push_back({"others", std::string(kOtherColor)});
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const auto found = numbers.find(GroupOf(graph, items[i]));
    map->boxes[i].group = found == numbers.end() ? other : found->second;
  }
}

}  // namespace

void DrawDominators(NodeId top, ObjectAnalysis* analysis,
                    OutputBuffer* output) {
  const auto items = LargestRetained(analysis, top, RetainedLimits());
  Treemap map;
  map.title = "What keeps memory alive";
  map.subtitle = absl::StrCat(
      top == kRootNode ? "All objects" : NodeText(analysis->graph(), top), ": ",
      HumanBytes(static_cast<double>(items[0].retained_bytes)),
      ". What stands within a box would go with it.");
  for (const RetainedItem& item : items) {
    map.boxes.push_back(BoxOf(analysis, item));
  }
  AddGroups(analysis->graph(), items, &map);
  PrintTreemap(map, output);
}

}  // namespace pymemrun
