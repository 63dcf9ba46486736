#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/cycles.h"
#include "readers/objects/graph/object_text.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// "app.Node, dict".
std::string TypesOf(const ObjectGraph& graph, const CycleGroup& group) {
  constexpr size_t kMost = 4;
  std::vector<std::string> names;
  for (const uint32_t type : group.types) {
    names.push_back(names.size() == kMost ? "..." : graph.type_name(type));
    if (names.size() > kMost) break;
  }
  return absl::StrJoin(names, ", ");
}

// FindCycles() does the work: the strongly connected parts of what no root
// reaches. This prints a row for each group of equal types.
class CyclesCommand final : public ObjectsCommand {
 public:
  CyclesCommand()
      : ObjectsCommand(
            "cycles", "reference cycles that only their own objects keep alive",
            "Lists reference cycles that no root leads to: garbage that waits "
            "for the cycle collector. Cycles of the same types are grouped, "
            "with the objects that only they keep alive.\n\nC code may hold "
            "such objects, too: a dump does not show its references.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddTable(app, 20, "group of cycles");
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const Cycles found = FindCycles(graph);
    Table table;
    table.headings = {{"bytes", "size", CellLook::kBytes},
                      {"circles", "circles"},
                      {"objects", "objects"},
                      {"hanging_bytes", "kept alive", CellLook::kBytes},
                      {"hanging_objects", "objects"},
                      {"address", "first"},
                      {"types", "types", CellLook::kName}};
    for (const CycleGroup& group : found.groups) {
      if (IsFull(table.rows.size())) break;
      table.rows.push_back({group.size_bytes, group.circles, group.objects,
                            group.hanging_bytes, group.hanging_objects,
                            AddressText(graph, group.first),
                            TypesOf(graph, group)});
    }
    table.places = table.rows.size();
    // What no root reaches need not be a cycle: C code may hold a reference.
    Print(found.objects == 0
              ? "Each object is reached from a root: no garbage waits."
              : absl::StrCat(
                    Counted(found.objects, "object"), " with ",
                    HumanBytes(static_cast<double>(found.size_bytes)),
                    found.objects == 1 ? " is" : " are",
                    " reached from no root. ",
                    found.cycles.empty()
                        ? "They form no cycle: C code may hold them."
                        : absl::StrCat(
                              "Among them ",
                              found.cycles.size() == 1 ? "is " : "are ",
                              Counted(found.cycles.size(), "cycle"), ".")),
          table, output);
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsCyclesCommand() {
  return std::make_unique<CyclesCommand>();
}

}  // namespace pymemrun
