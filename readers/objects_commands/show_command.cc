#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_text/allocation_text.h"
#include "readers/objects_text/object_table.h"
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
  void AddRows(CLI::App* app) override {
    AddRun(app);
    AddTable(app, 0, "object");
  }
  bool ShowsAllocations() const override { return true; }
  // Or why it is not known.
  void AddAllocation(const ObjectGraph& graph, NodeId node,
                     std::string* heading) const {
    std::string text = AllocationText(graph, node, "", kMostFrames);
    if (!text.empty()) {
      text.pop_back();
      absl::StrAppend(heading, "\n", text);
      if (graph.allocations()->Of(node)->is_sure) return;
      absl::StrAppend(heading, "\nThat was its block. CPython uses those of a ",
                      graph.type_name(graph.type(node)),
                      " again, so it may have been made elsewhere.");
    } else if (!no_allocations_.empty()) {
      absl::StrAppend(
          heading, "\nWhere it was allocated is not known: ", no_allocations_);
    } else {
      absl::StrAppend(heading, "\nWhere it was allocated is not known: ",
                      graph.allocations()->sampled()
                          ? "only a sample of the blocks was recorded"
                          : "no heap event tells of its block");
    }
  }
  int ShowNode(NodeId node, ObjectAnalysis* analysis,
               OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    std::string heading = ObjectSentence(analysis, node);
    const Chain chain = analysis->chains().To(node);
    if (!chain.empty()) {
      absl::StrAppend(&heading, "\nKept alive by ",
                      TerminalText(ChainText(graph, chain)));
    }
    const NodeId dominator = analysis->dominator(node);
    if (dominator != kNoNode && dominator != kRootNode) {
      absl::StrAppend(&heading, "\nIt would go with ",
                      ShownNode(graph, dominator));
    }
    for (const auto& [flag, says] : kFlags) {
      if ((graph.flags(node) & flag) != 0)
        absl::StrAppend(&heading, "\n", says);
    }
    AddAllocation(graph, node, &heading);
    Table table = ObjectTable();
    pymemrun::AddObject(analysis, node, &table);
    FrameBudget budget;
    if (!table_.as_text()) {
      AddAllocationColumns(graph, {node}, &budget, &table);
    }
    Print(heading, table, output);
    return kExitOk;
  }

  static constexpr int kMostFrames = 12;
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
