#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/graph/object_text.h"
#include "readers/options/option_values.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// ShortestChainsTo() finds the chains. Text has a table for each; machines get
// one table with a row for each step.
class PathCommand final : public OneObjectCommand {
 public:
  PathCommand()
      : OneObjectCommand(
            "path", "the references from the roots that keep an object alive",
            "Shows the shortest chains of references from the roots "
            "to an object: each keeps it alive. Weak references do "
            "not.") {}

 private:
  void AddRows(CLI::App* app) override {
    AddParsed(
        app, "--chains", &chains_,
        [](absl::string_view text) { return ParseNumber(text, 1, 1000); }, "N",
        "Show at most N chains (3).");
    AddTable(app, 60, "reference of a chain");
  }
  int ShowNode(NodeId node, ObjectAnalysis* analysis,
               OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const std::vector<Chain> chains = analysis->ShortestChainsTo(node, chains_);
    if (!table_.as_text()) {
      PrintTable(ChainTable(analysis, chains), table_.format(), output);
      return kExitOk;
    }
    output->AppendLines(absl::StrCat(ObjectSentence(analysis, node), "\n"));
    for (const Chain& chain : chains) {
      output->AppendLines(
          absl::StrCat("\n", TerminalText(ChainText(graph, chain)), "\n"));
      PrintTable(StepTable(analysis, chain), table_.format(), output);
      // More than limit() steps.
      if (IsFull(chain.size() - 1)) {
        output->AppendLines(
            absl::StrCat(chain.size() - limit(),
                         " more steps are not listed: --limit 0 lists all.\n"));
      }
    }
    return kExitOk;
  }

  Table StepTable(ObjectAnalysis* analysis, const Chain& chain) const {
    const ObjectGraph& graph = analysis->graph();
    Table table;
    table.headings = {{"retained_bytes", "retained", CellLook::kBytes},
                      {"reference", "reference", CellLook::kName},
                      {"object", "object", CellLook::kName}};
    for (const uint32_t edge : chain) {
      if (IsFull(table.rows.size())) break;
      const NodeId target = graph.target(edge);
      table.rows.push_back({analysis->retained(target), EdgeText(graph, edge),
                            NodeText(graph, target)});
    }
    table.places = table.rows.size();
    return table;
  }

  // The limit counts steps of each chain, as in text.
  Table ChainTable(ObjectAnalysis* analysis,
                   const std::vector<Chain>& chains) const {
    const ObjectGraph& graph = analysis->graph();
    Table table = ObjectTable(Table::Heading{"reference", "reference"});
    table.headings.insert(table.headings.begin(),
                          {{"chain", "chain"}, {"step", "step"}});
    uint64_t number = 0;
    for (const Chain& chain : chains) {
      ++number;
      uint64_t step = 0;
      for (const uint32_t edge : chain) {
        if (IsFull(step)) break;
        pymemrun::AddObject(analysis, graph.target(edge), &table,
                            EdgeText(graph, edge));
        std::vector<Cell>& row = table.rows.back();
        row.insert(row.begin(), {Cell(number), Cell(++step)});
      }
    }
    return table;
  }

  uint64_t chains_ = 3;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsPathCommand() {
  return std::make_unique<PathCommand>();
}

}  // namespace pymemrun
