#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "readers/options/option_values.h"
#include "readers/relations/run/run_relations.h"
#include "readers/report/report_command.h"
#include "readers/report/sql_answer.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class QueryCommand final : public ReportCommand {
 public:
  QueryCommand()
      : ReportCommand(
            "query", "answers a SELECT over the run's tables",
            "Answers a question in SQL over the run's tables.\n\n"
            "  pymemreport query run.pb \"SELECT function, count(*) FROM "
            "events GROUP BY 1\"\n\n"
            "--tables lists the tables with their columns and units; with "
            "FILE it says which are empty because their data was not recorded. "
            "With several runs, the column `run` names the run of each row. "
            "The SQL is that of SQLite.") {}

  std::vector<OldName> OldNames() const override {
    return {{"tables",
             {"--tables"},
             "Lists the tables of SQL with their columns and units. With FILE "
             "it says which are empty because their data was not recorded."}};
  }
  // The SELECT is the last word of FILE... : CLI11 cannot tell it from a file's
  // name.
  void AddOptions(CLI::App* app) override {
    const bool lists = !words().empty();  // by the old name
    app->add_option("FILE", files_.paths,
                    lists ? "A run file; without it all tables are listed."
                          : "Run files or folders, followed by a SELECT.")
        ->option_text(lists ? "[FILE]" : "FILE... SELECT");
    files_.AddPid(app);
    AddMoment(app, &at_);
    table_.Add(app, 100,
               lists ? "A row for each column." : "The rows of the answer.",
               "rows");
    app->add_flag("--tables", tables_,
                  "List the tables and their columns instead.");
    app->add_flag("--markdown", markdown_, "Print the list as Markdown.");
    files_.AddOutput(app);
    Need(app, {"--markdown"}, "--tables");
    Exclude(app, {"--tables"}, {"--at", "--limit"});
    Exclude(app, {"--markdown"}, {"--csv", "--json"});
  }
  // A SELECT has a space, which hardly any file's name has: so a forgotten
  // SELECT is noticed.
  std::string Problem() const override {
    if (tables_) return files_.paths.size() > 1 ? "takes one FILE" : "";
    if (files_.paths.empty()) return "FILE is required";
    const std::string& sql = files_.paths.back();
    if (sql.find_first_of(" \n\t(") == std::string::npos) {
      return absl::StrCat("expected a SELECT after FILE, found '",
                          TerminalText(sql), "'");
    }
    return "";
  }
  // The last word is the SELECT.
  void TakeFolders() override {
    if (tables_) return ReportCommand::TakeFolders();
    sql_ = files_.paths.back();
    files_.paths.pop_back();
    if (files_.paths.empty()) files_.paths.emplace_back("run.pb");
    ReportCommand::TakeFolders();
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  int PrintTables(const Console& console, OutputBuffer* output) const;
  // False: the run has no such moment, which has been said.
  bool HasMoment(RelationRun* run, const Console& console, int* code) const;
  void SayUnusedMoment(const Console& console) const;

  std::string sql_;
  bool tables_ = false, markdown_ = false;
  Moment at_;
  TableOptions table_;
};

// Whether the SELECT has the word, between characters that no name has, in
// capitals or not. SQL is not parsed for this: at worst a message is printed
// without need.
bool Names(absl::string_view select, absl::string_view word) {
  const std::string sql = absl::AsciiStrToLower(select);
  const auto is_letter = [&sql](size_t at) {
    return at < sql.size() && (absl::ascii_isalnum(sql[at]) || sql[at] == '_');
  };
  for (size_t at = 0; (at = sql.find(word.data(), at)) != std::string::npos;
       ++at) {
    if (!(at > 0 && is_letter(at - 1)) && !is_letter(at + word.size()))
      return true;
  }
  return false;
}

// Says what cannot have rows although the SELECT names it.
void SayMissing(const std::string& sql, const Relations& relations,
                const std::string& shown_name, const Console& console) {
  for (const auto& relation : relations) {
    const std::string missing = relation->Missing();
    if (missing.empty()) continue;
    if (!Names(sql, relation->name())) continue;
    console.Say(
        absl::StrCat(shown_name, ": ", relation->name(), ": ", missing));
  }
}

// "blocks, pages and thread_memory": the tables that show one moment.
std::string OfMoment(const Relations& relations) {
  std::vector<std::string> names;
  for (const auto& relation : relations) {
    if (relation->of_moment()) names.emplace_back(relation->name());
  }
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

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
    absl::StrAppend(&text,
                    absl::StrFormat("  %-16s %-8s %-6s %s\n", column.name,
                                    KindName(column.type.kind),
                                    UnitName(column.type.unit), column.about));
  }
  return text;
}

std::string MarkdownOf(const Relation& relation) {
  std::string text =
      absl::StrCat("\n## ", relation.name(), "\n\nA row is ", relation.about(),
                   ".\n\n| Column | Type | Unit | |\n"
                   "| --- | --- | --- | --- |\n");
  for (const RelationColumn& column : relation.columns()) {
    absl::StrAppend(&text, "| `", column.name, "` | ",
                    KindName(column.type.kind), " | ",
                    UnitName(column.type.unit), " | ", column.about, " |\n");
  }
  return text;
}

constexpr char kMarkdownHead[] =
    "# Tables\n\nWhat `pymemreport query FILE... SELECT` reads. Each table "
    "also has the column `run`, the name of\nthe file. This page is what "
    "`pymemreport query --tables --markdown` prints.\n\n";

// Without a file the tables have no run: they know their columns, but have no
// rows.
int QueryCommand::PrintTables(const Console& console,
                              OutputBuffer* output) const {
  std::unique_ptr<RelationRun> run;
  if (!files_.paths.empty()) {
    run = RelationRun::Read(files_.paths[0], at_, console);
    if (run == nullptr) return kExitFailed;
  }
  const Relations relations = RunRelations(run.get());
  const std::string of_moment = absl::StrCat(
      "--at sets the moment of ", OfMoment(relations),
      ".\nIt does not change the other tables: these cover the whole run.\n");
  if (markdown_) output->Append(kMarkdownHead);
  if (markdown_ || table_.as_text()) output->Append(of_moment);
  if (!table_.as_text()) {
    PrintTable(ColumnTable(relations), table_.format(), output);
  }
  for (const auto& relation : relations) {
    if (markdown_) output->Append(MarkdownOf(*relation));
    if (markdown_ || !table_.as_text()) continue;
    const std::string missing = run == nullptr ? "" : relation->Missing();
    output->AppendLines(absl::StrCat("\n", TextOf(relation.get(), missing)));
  }
  return run == nullptr ? kExitOk : run->file()->code();
}

bool QueryCommand::HasMoment(RelationRun* run, const Console& console,
                             int* code) const {
  if (at_.kind == Moment::kPeak) return true;  // each run has one
  const absl::Status status = run->FindAt().status();
  if (status.ok()) return true;
  console.Say(absl::StrCat(run->file()->shown_name(), ": ", status.message()));
  *code = absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
  return false;
}

void QueryCommand::SayUnusedMoment(const Console& console) const {
  const Relations relations = RunRelations(nullptr);
  const bool is_used = std::any_of(
      relations.begin(), relations.end(), [this](const auto& relation) {
        return relation->of_moment() && Names(sql_, relation->name());
      });
  if (is_used || at_.kind == Moment::kPeak) return;
  console.Say(
      absl::StrCat("--at sets the moment of ", OfMoment(relations), " only"));
}

// All runs are open at the same time: a SELECT may join them. SQLite asks for
// their rows while it answers.
int QueryCommand::Run(const Console& console, OutputBuffer* output) {
  if (tables_) return PrintTables(console, output);
  int code = kExitOk;
  std::vector<std::unique_ptr<RelationRun>> runs;
  std::vector<std::pair<std::string, Relations>> relations;
  for (const std::string& path : files_.paths) {
    auto run = RelationRun::Read(path, at_, console);
    if (run == nullptr) return kExitFailed;
    relations.emplace_back(path, RunRelations(run.get()));
    if (!HasMoment(run.get(), console, &code)) return code;
    SayMissing(sql_, relations.back().second, run->file()->shown_name(),
               console);
    runs.push_back(std::move(run));
  }
  SayUnusedMoment(console);
  code = PrintSqlAnswer(sql_, JoinRuns(std::move(relations)), table_, console,
                        output);
  for (const auto& run : runs) code = std::max(code, run->file()->code());
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewQueryCommand() {
  return std::make_unique<QueryCommand>();
}

}  // namespace pymemrun
