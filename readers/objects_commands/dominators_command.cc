#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "readers/objects_commands/dominator_picture.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_text/object_table.h"
#include "readers/options/option_values.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// Of one object so many below it are listed.
constexpr size_t kMostChildren = 10;

class DominatorsCommand final : public ObjectsCommand {
 public:
  DominatorsCommand()
      : ObjectsCommand(
            "dominators", "the tree of what would go with what",
            "Shows the tree of dominators: below each object stands what would "
            "go with it.\n\nOf each object the ten that retain most are "
            "listed, provided that they retain a hundredth of all. --treemap "
            "draws boxes within boxes instead, each as large as what it keeps "
            "alive; what is empty of a box is its own size, or too small to "
            "be seen.") {}
  std::vector<OldName> OldNames() const override {
    return {{"treemap", {"--treemap"}}};
  }

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    app->add_option("ADDR", object_, "Begin with this object (the root).")
        ->option_text("[ADDR]");
    AddParsed(
        app, "--depth", &depth_,
        [](absl::string_view text) { return ParseNumber(text, 1, 1000); }, "N",
        "Show N levels (5).");
    AddParsed(app, "--min", &least_bytes_, ParseBytes, "SIZE",
              "Show what retains at least SIZE (a hundredth of all).");
    app->add_flag("--treemap", treemap_, "Draw it as a picture, SVG.");
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
                    " are alive. What stands below an object would go "
                    "with it.")
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

  // The smallest first.
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
