#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "readers/report/report_command.h"
#include "readers/report/sql_answer.h"
#include "readers/run_relations/run_relations.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class QueryCommand final : public ReportCommand {
 public:
  QueryCommand()
      : ReportCommand(
            "query", "answers a SELECT over the run's tables",
            "Answers a question in SQL, as in\n\n"
            "  pymemreport query run.pb \"SELECT function, count(*) FROM "
            "events "
            "GROUP BY 1\"\n\n`pymemreport tables` lists the tables and their "
            "columns. Of several runs the column `run` says which one a row is "
            "of. The language is SQLite's.") {}

  void AddOptions(CLI::App* app) override {
    app->add_option("FILE", files_.paths,
                    "Run files, or folders, and a SELECT behind them.")
        ->required()
        ->option_text("FILE... SELECT");
    AddMoment(app, &at_);
    table_.Add(app, 100, ": a row for each of the answer");
    files_.AddOutput(app);
  }
  std::string Problem() const override {
    const std::string& sql = files_.paths.back();
    if (sql.find_first_of(" \n\t(") == std::string::npos) {
      return absl::StrCat("expected a SELECT behind FILE, found '",
                          TerminalText(sql), "'");
    }
    return table_.Problem();
  }
  // The last word is the SELECT.
  void TakeFolders() override {
    sql_ = files_.paths.back();
    files_.paths.pop_back();
    if (files_.paths.empty()) files_.paths.emplace_back("run.pb");
    ReportCommand::TakeFolders();
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  std::string sql_;
  Moment at_;
  TableOptions table_;
};

// Whether the SELECT has the word.
bool Names(const std::string& sql, absl::string_view word) {
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

int QueryCommand::Run(const Console& console, OutputBuffer* output) {
  std::vector<std::unique_ptr<RelationRun>> runs;
  std::vector<std::pair<std::string, Relations>> relations;
  for (const std::string& path : files_.paths) {
    auto run = RelationRun::Read(path, console);
    if (run == nullptr) return kExitFailed;
    relations.emplace_back(path, RunRelations(run.get(), at_));
    SayMissing(sql_, relations.back().second, run->file()->shown_name(),
               console);
    runs.push_back(std::move(run));
  }
  int code = PrintSqlAnswer(sql_, JoinRuns(std::move(relations)), table_,
                            console, output);
  for (const auto& run : runs) code = std::max(code, run->file()->code());
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewQueryCommand() {
  return std::make_unique<QueryCommand>();
}

}  // namespace pymemrun
