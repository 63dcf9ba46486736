#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/report/report_command.h"
#include "readers/run_relations/run_relations.h"

namespace pymemrun {
namespace {

class TablesCommand final : public ReportCommand {
 public:
  TablesCommand()
      : ReportCommand("tables", "the tables that query reads",
                      "Lists the tables that `query` reads, with their columns "
                      "and units. With FILE it says which have no rows because "
                      "of what was not recorded.") {}

  void AddOptions(CLI::App* app) override {
    app->add_option("FILE", files_.paths, "A run file.")->option_text("[FILE]");
    app->add_flag("--markdown", markdown_,
                  "Print Markdown, a page of the docs.");
    format_.Add(app, ": a row for each column");
    files_.AddOutput(app);
  }
  std::string Problem() const override {
    if (files_.paths.size() > 1) return "takes one FILE";
    if (markdown_ && !format_.as_text()) return "--markdown is a format itself";
    return format_.Problem();
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  FormatOptions format_;
  bool markdown_ = false;
};

Table ColumnTable(const Relations& relations) {
  Table table;
  table.headings = {{"table"}, {"column"}, {"type"}, {"unit"}, {"about"}};
  for (const auto& relation : relations) {
    for (const RelationColumn& column : relation->columns()) {
      const std::string unit(UnitName(column.type.unit));
      table.rows.push_back(
          {std::string(relation->name()), std::string(column.name),
           std::string(KindName(column.type.kind)),
           unit.empty() ? Cell() : Cell(unit), std::string(column.about)});
    }
  }
  return table;
}

// With what is missing, if anything is.
std::string TextOf(Relation* relation, const std::string& missing) {
  std::string text = absl::StrCat(relation->name(), ": ", relation->about(),
                                  missing.empty() ? "" : " (none: the run ",
                                  missing, missing.empty() ? "" : ")", "\n");
  for (const RelationColumn& column : relation->columns()) {
    absl::StrAppend(
        &text, absl::StrFormat("  %-16s %-8s %-6s %s\n", column.name,
                               KindName(column.type.kind), UnitName(column.type.unit),
                               column.about));
  }
  return text;
}

std::string MarkdownOf(const Relation& relation) {
  std::string text =
      absl::StrCat("\n## ", relation.name(), "\n\nA row is ", relation.about(),
                   ".\n\n| Column | Type | Unit | |\n"
                   "| --- | --- | --- | --- |\n");
  for (const RelationColumn& column : relation.columns()) {
    absl::StrAppend(&text, "| `", column.name, "` | ", KindName(column.type.kind),
                    " | ", UnitName(column.type.unit), " | ", column.about, " |\n");
  }
  return text;
}

constexpr char kMarkdownHead[] =
    "# Tables\n\nWhat `pymemreport query FILE... SELECT` reads. There each "
    "table has "
    "one column more, `run`: the\nname of the file. This page is what "
    "`pymemreport tables --markdown` prints.\n";

int TablesCommand::Run(const Console& console, OutputBuffer* output) {
  std::unique_ptr<RelationRun> run;
  if (!files_.paths.empty()) {
    run = RelationRun::Read(files_.paths[0], console);
    if (run == nullptr) return kExitFailed;
  }
  const Relations relations = RunRelations(run.get(), Moment());
  if (markdown_) output->Append(kMarkdownHead);
  if (!format_.as_text()) {
    PrintTable(ColumnTable(relations), format_.format(), output);
  }
  bool is_first = true;
  for (const auto& relation : relations) {
    if (markdown_) output->Append(MarkdownOf(*relation));
    if (markdown_ || !format_.as_text()) continue;
    const std::string missing = run == nullptr ? "" : relation->Missing();
    output->AppendLines(absl::StrCat(std::exchange(is_first, false) ? "" : "\n",
                                     TextOf(relation.get(), missing)));
  }
  return run == nullptr ? kExitOk : run->file()->code();
}

}  // namespace

std::unique_ptr<ReportCommand> NewTablesCommand() {
  return std::make_unique<TablesCommand>();
}

}  // namespace pymemrun
