#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "readers/objects_commands/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class ShowCommand final : public OneObjectCommand {
 public:
  ShowCommand()
      : OneObjectCommand(
            "show", "one object: size, value, what keeps it alive",
            "Shows one object: what it is, what it keeps alive, and "
            "what keeps it alive.") {}

 private:
  void AddRows(CLI::App* app) override { AddTable(app, 0, "object"); }
  int ShowNode(NodeId node, ObjectAnalysis* analysis,
               OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    std::string heading = ObjectSentence(analysis, node);
    const auto chains =
        ShortestChains(graph, analysis->parents(), node, /*count=*/1);
    if (!chains.empty()) {
      absl::StrAppend(&heading, "\nKept alive by ",
                      TerminalText(ChainText(graph, chains[0])));
    }
    const NodeId dominator = analysis->tree().dominator(node);
    if (dominator != kNoNode && dominator != kRootNode) {
      absl::StrAppend(&heading, "\nIt would go with ",
                      ShownNode(graph, dominator));
    }
    for (const auto& [flag, says] : kFlags) {
      if ((graph.flags(node) & flag) != 0)
        absl::StrAppend(&heading, "\n", says);
    }
    Table table = ObjectTable();
    pymemrun::AddObject(analysis, node, &table);
    Print(heading, table, output);
    return kExitOk;
  }

  static constexpr std::pair<uint32_t, const char*> kFlags[] = {
      {ObjectBatch::IMMORTAL, "It is immortal: it never goes."},
      {ObjectBatch::ESTIMATED,
       "Its size is an estimate: its __sizeof__ is Python code."},
      {ObjectBatch::FROZEN, "It is frozen: gc.freeze() was called."},
      {ObjectBatch::INTERNED, "It is interned."}};
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsShowCommand() {
  return std::make_unique<ShowCommand>();
}

}  // namespace pymemrun
