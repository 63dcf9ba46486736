#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/objects/object_text.h"
#include "readers/objects_commands/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_findings/cycles.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// "2 app.Node, dict".
std::string TypesOf(const ObjectGraph& graph, const Cycle& cycle) {
  constexpr size_t kMost = 4;
  absl::btree_map<uint32_t, uint64_t> counts;
  for (const NodeId node : cycle.nodes) ++counts[graph.type(node)];
  std::vector<std::pair<uint64_t, uint32_t>> order;
  for (const auto& [type, count] : counts) order.push_back({count, type});
  std::stable_sort(
      order.begin(), order.end(),
      [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (const auto& [count, type] : order) {
    if (texts.size() == kMost) {
      texts.push_back("...");
      break;
    }
    const std::string& name = graph.type_name(type);
    texts.push_back(count == 1 ? name : absl::StrCat(count, " ", name));
  }
  return absl::StrJoin(texts, ", ");
}

class CyclesCommand final : public ObjectsCommand {
 public:
  CyclesCommand()
      : ObjectsCommand(
            "cycles", "circles of objects that only they keep alive",
            "Lists circles of objects that no root leads to: garbage that "
            "waits "
            "for the cycle collector.\n\nC code that keeps a reference to "
            "itself may hold such objects, too: a dump does not show that.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddTable(app, 20, "circle");
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const Cycles found = FindCycles(graph);
    Table table;
    table.headings = {{"bytes", "size", CellLook::kBytes},
                      {"objects", "objects"},
                      {"address", "first"},
                      {"types", "types", CellLook::kName}};
    for (const Cycle& cycle : found.cycles) {
      if (IsFull(table.rows.size())) break;
      table.rows.push_back({cycle.size_bytes, uint64_t{cycle.nodes.size()},
                            AddressText(graph, cycle.nodes[0]),
                            TypesOf(graph, cycle)});
    }
    table.places = table.rows.size();
    Print(found.objects == 0
              ? "Each object is reached from a root: no garbage waits."
              : absl::StrCat(
                    Counted(found.objects, "object"), " with ",
                    HumanBytes(static_cast<double>(found.size_bytes)),
                    found.objects == 1 ? " is" : " are",
                    " reached from no root. ",
                    found.cycles.empty()
                        ? "No circle is among them: C code may hold "
                          "them."
                        : absl::StrCat(
                              "Among them ",
                              found.cycles.size() == 1 ? "is " : "are ",
                              Counted(found.cycles.size(), "circle"), ".")),
          table, output);
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsCyclesCommand() {
  return std::make_unique<CyclesCommand>();
}

}  // namespace pymemrun
