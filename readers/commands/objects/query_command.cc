#include <memory>
#include <string>

#include "readers/commands/objects/objects_command.h"
#include "readers/relations/objects/graph_relations.h"
#include "readers/report/sql_answer.h"

namespace pymemrun {
namespace {

// SQLite runs the SELECT over virtual tables, which read the graph as rows are
// asked for.
class QueryCommand final : public ObjectsCommand {
 public:
  QueryCommand()
      : ObjectsCommand(
            "query", "answers a SELECT over nodes, edges, dominators, types",
            "Answers a question in SQL.\n\nThe dump's tables are "
            "nodes(id, address, type, module, size, retained, length, value, "
            "synthetic), edges(source, target, kind, name), dominators(node, "
            "dominator, retained) and types(type, module, objects, size, "
            "retained). The language is SQLite's.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    app->add_option("SQL", sql_, "A SELECT.")->required()->option_text("SQL");
    AddTable(app, 100, "row of the answer");
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    return PrintSqlAnswer(sql_, GraphRelations(analysis), table_, console,
                          output);
  }

  std::string sql_;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsQueryCommand() {
  return std::make_unique<QueryCommand>();
}

}  // namespace pymemrun
