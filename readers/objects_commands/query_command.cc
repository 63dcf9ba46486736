#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_query/sql_query.h"
#include "readers/output/text_table.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

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
    const auto answer = RunSql(sql_, table_.limit(), analysis);
    if (!answer.ok()) {
      console.Say(TerminalText(answer.status().message()));
      return absl::IsInvalidArgument(answer.status()) ? kExitUsage
                                                      : kExitFailed;
    }
    if (table_.as_text()) {
      PrintText(*answer, output);
    } else {
      PrintTable(answer->table, table_.format(), output);
      if (answer->has_more) {
        console.Say(absl::StrCat("only the first ", table_.limit(),
                                 " rows are printed; --limit 0 prints all"));
      }
    }
    return kExitOk;
  }

  // The SELECT says which columns there are, and their order.
  void PrintText(const SqlAnswer& answer, OutputBuffer* output) const {
    output->AppendLines(
        answer.has_more
            ? absl::StrCat("The first ", table_.limit(),
                           " rows; --limit 0 lists all.\n")
            : absl::StrCat(Counted(answer.table.rows.size(), "row"), ".\n"));
    if (answer.table.rows.empty()) return;
    output->AppendLines("\n");
    PrintTextTableInOrder(answer.table, output);
  }

  std::string sql_;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsQueryCommand() {
  return std::make_unique<QueryCommand>();
}

}  // namespace pymemrun
