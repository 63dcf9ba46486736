#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_findings/graph_diff.h"
#include "readers/options/option_values.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class DiffCommand final : public ObjectsCommand {
 public:
  DiffCommand()
      : ObjectsCommand(
            "diff", "what came, went and grew between two dumps",
            "Compares two dumps, and lists types, or the lines that allocated "
            "the objects, by what they grew by.\n\nOf "
            "two dumps of one process it says which objects are new, gone and "
            "grown. An address that was used anew for an equal object counts "
            "as "
            "the same.") {}

  void AddOptions(CLI::App* app) override {
    files_.count = 2;
    app->add_option("FILE", files_.paths,
                    "Two dumps, the older one first; - reads standard input.")
        ->required()
        ->expected(2)
        ->option_text("OLD NEW");
    AddWhere(app);
    AddChoice<DiffBy>(app, "--by", &by_,
                      {{"type", DiffBy::kType}, {"line", DiffBy::kLine}},
                      "GROUP",
                      "A row for each type (type, the default), or for each "
                      "line that allocated the objects (line).");
    AddTable(app, 20, "type or line");
  }
  int Run(const Console& console, OutputBuffer* output) override;

 private:
  bool NeedsAllocations() const override {
    return by_ == DiffBy::kLine || ObjectsCommand::NeedsAllocations();
  }
  int Show(ObjectAnalysis*, const Console&, OutputBuffer*) override {
    return kExitOk;  // Run() reads two
  }
  static std::string Heading(const ObjectGraph& older,
                             const ObjectGraph& newer);

  DiffBy by_ = DiffBy::kType;
};

std::string DiffCommand::Heading(const ObjectGraph& older,
                                 const ObjectGraph& newer) {
  const double change = static_cast<double>(newer.total_bytes()) -
                        static_cast<double>(older.total_bytes());
  std::string text = absl::StrCat(
      "The objects take ", HumanBytes(change < 0 ? -change : change),
      change < 0 ? " less: " : " more: ",
      HumanBytes(static_cast<double>(older.total_bytes())), " in ",
      Counted(older.objects(), "object"), " before, ",
      HumanBytes(static_cast<double>(newer.total_bytes())), " in ",
      Counted(newer.objects(), "object"), " after.");
  if (!IsOneProcess(older, newer)) {
    absl::StrAppend(&text,
                    " The dumps are of two processes: which objects are new "
                    "cannot be told.");
  }
  return text;
}

int DiffCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const auto older = Load(files_.paths[0], console, &code);
  if (older == nullptr) return code;
  const auto newer = Load(files_.paths[1], console, &code);
  if (newer == nullptr) return code;
  const bool one = IsOneProcess(*older, *newer);
  Table table;
  table.headings = {
      {"net_bytes", "grew by", CellLook::kBytes},
      {"net_objects", "objects"},
      {"new_objects", "new"},
      {"new_bytes", "new size", CellLook::kBytes},
      {"gone_objects", "gone"},
      {"gone_bytes", "gone size", CellLook::kBytes},
      {"grown_bytes", "grown", CellLook::kBytes},
      by_ == DiffBy::kType
          ? Table::Heading{"type", "type", CellLook::kName}
          : Table::Heading{"allocated_line", "allocated by", CellLook::kName}};
  const auto known = [one](auto value) { return one ? Cell(value) : Cell(); };
  for (const DiffRow& row : DiffGraphs(*older, *newer, where_, one, by_)) {
    if (IsFull(table.rows.size())) break;
    table.rows.push_back(
        {row.net_bytes(),
         static_cast<int64_t>(row.new_objects) -
             static_cast<int64_t>(row.old_objects),
         known(row.came), known(row.came_bytes), known(row.gone),
         known(row.gone_bytes), known(row.grown_bytes),
         row.name.empty() && table_.as_text() ? "<not known>" : row.name});
  }
  table.places = table.rows.size();
  Print(Heading(*older, *newer), table, output);
  return code;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsDiffCommand() {
  return std::make_unique<DiffCommand>();
}

}  // namespace pymemrun
