#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "readers/objects_text/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "text/columns.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class RetainedCommand final : public ObjectsCommand {
 public:
  RetainedCommand()
      : ObjectsCommand(
            "retained", "what would go with an object, or with a type",
            "Says how many bytes would go with an object, or with "
            "all objects of a type together: their own, and those of "
            "all that only they keep alive.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddObjectOrType(app);
    AddTable(app, 20, "type of what would go");
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const Chosen chosen = NamedObjects(graph, console);
    if (chosen.count == 0) return kExitFailed;
    const std::vector<NodeId> gone = GoneWith(chosen, analysis);
    uint64_t bytes = 0, objects = 0;
    for (const NodeId node : gone) {
      bytes += graph.size_bytes(node);
      objects += !graph.is_synthetic(node);
    }
    Print(absl::StrCat(chosen.node != kNoNode
                           ? ShownNode(graph, chosen.node)
                           : absl::StrCat(Counted(chosen.count, "object"),
                                          " of ", TerminalText(object_)),
                       chosen.count == 1 ? " keeps " : " together keep ",
                       HumanBytes(static_cast<double>(bytes)), " in ",
                       Counted(objects, "object"), " alive, ",
                       Percent(analysis->ShareOf(bytes)),
                       " of all that is alive."),
          TypesOf(graph, gone), output);
    return kExitOk;
  }

  static std::vector<NodeId> GoneWith(const Chosen& chosen,
                                      ObjectAnalysis* analysis);
  // A row for each type of what would go.
  Table TypesOf(const ObjectGraph& graph,
                const std::vector<NodeId>& gone) const;
};

std::vector<NodeId> RetainedCommand::GoneWith(const Chosen& chosen,
                                              ObjectAnalysis* analysis) {
  if (chosen.node != kNoNode) return analysis->GoneWithNode(chosen.node);
  const std::vector<bool> is_gone = analysis->GoneWith(chosen.nodes);
  std::vector<NodeId> gone;
  for (NodeId node = 0; node < is_gone.size(); ++node) {
    if (is_gone[node]) gone.push_back(node);
  }
  return gone;
}

Table RetainedCommand::TypesOf(const ObjectGraph& graph,
                               const std::vector<NodeId>& gone) const {
  struct OfType {
    uint64_t bytes = 0, objects = 0;
    uint32_t type = 0;
  };
  std::vector<OfType> types(graph.types().size());
  for (const NodeId node : gone) {
    if (graph.is_synthetic(node)) continue;
    OfType& of = types[graph.type(node)];
    of.type = graph.type(node);
    of.bytes += graph.size_bytes(node);
    ++of.objects;
  }
  std::stable_sort(
      types.begin(), types.end(),
      [](const OfType& a, const OfType& b) { return a.bytes > b.bytes; });
  Table table;
  table.headings = {{"objects", "objects"},
                    {"bytes", "size", CellLook::kBytes},
                    {"type", "type", CellLook::kName}};
  for (const OfType& of : types) {
    if (of.objects == 0 || IsFull(table.rows.size())) continue;
    table.rows.push_back({of.objects, of.bytes, graph.type_name(of.type)});
  }
  table.places = table.rows.size();
  return table;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsRetainedCommand() {
  return std::make_unique<RetainedCommand>();
}

}  // namespace pymemrun
