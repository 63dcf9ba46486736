#include <algorithm>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/graph_diff.h"
#include "readers/objects/graph/object_text.h"
#include "readers/options/option_values.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// Types and lines are sums over objects; dominators compare single objects,
// which have to be the same in both dumps.
enum class By { kType, kLine, kDominator };

class DiffCommand final : public ObjectsCommand {
 public:
  DiffCommand()
      : ObjectsCommand(
            "diff", "what was added, freed or grew between two dumps",
            "Compares two dumps, and lists types, or the lines that allocated "
            "the objects, by how much they grew or shrank.\n\nFor two dumps of "
            "one process it shows which objects are new, gone or larger. An "
            "equal object at a reused address counts as the same object. --by "
            "dominator lists the objects that keep more or less memory alive "
            "than before, at the place where it accumulates.") {}

  void AddOptions(CLI::App* app) override {
    files_.count = 2;
    ShowBehind("OLD", app);
    app->add_option("FILE", files_.paths,
                    "Two dumps, the older one first; - reads standard input.")
        ->required()
        ->expected(2)
        ->option_text("NEW");
    AddWhere(app);
    AddChoice<By>(app, "--by", &by_,
                  {{"type", By::kType},
                   {"line", By::kLine},
                   {"dominator", By::kDominator}},
                  "GROUP",
                  "A row for each type (type, the default), each line that "
                  "allocated the objects (line), or each object "
                  "by what it "
                  "keeps alive (dominator).");
    AddTable(app, 20, "type, line or object");
  }

 private:
  bool NeedsAllocations() const override {
    return by_ == By::kLine || ObjectsCommand::NeedsAllocations();
  }
  int Show(ObjectAnalysis*, const Console&, OutputBuffer*) override {
    return kExitOk;  // Run() reads two
  }
  int Run(const Console& console, OutputBuffer* output) override;
  // Says how many rows --limit left out.
  void PrintMore(uint64_t rows, OutputBuffer* output) const;
  int Compare(ObjectAnalysis* older, ObjectAnalysis* newer,
              const Console& console, OutputBuffer* output) const;
  static std::string Heading(const ObjectGraph& older,
                             const ObjectGraph& newer);
  // By type, or by line.
  // *more: how many rows --limit leaves out.
  Table GroupsTable(const ObjectGraph& older, const ObjectGraph& newer,
                    uint64_t* more) const;
  // And the same in sentences.
  Table DominatorsTable(ObjectAnalysis* older, ObjectAnalysis* newer,
                        std::string* text, uint64_t* more) const;

  By by_ = By::kType;
};

std::string DiffCommand::Heading(const ObjectGraph& older,
                                 const ObjectGraph& newer) {
  const double change = static_cast<double>(newer.total_bytes()) -
                        static_cast<double>(older.total_bytes());
  std::string text = absl::StrCat(
      "The objects take ",
      change == 0 ? "as much as before: "
                  : absl::StrCat(HumanBytes(change < 0 ? -change : change),
                                 change < 0 ? " less: " : " more: "),
      HumanBytes(static_cast<double>(older.total_bytes())), " in ",
      Counted(older.objects(), "object"), " before, ",
      HumanBytes(static_cast<double>(newer.total_bytes())), " in ",
      Counted(newer.objects(), "object"), " after.");
  if (!IsOneProcess(older, newer)) {
    absl::StrAppend(
        &text,
        " The dumps are of two processes: which objects are new is not known.");
  }
  return text;
}

// Addresses of another process say nothing, so what is new or gone is known for
// one process only.
Table DiffCommand::GroupsTable(const ObjectGraph& older,
                               const ObjectGraph& newer, uint64_t* more) const {
  const ObjectsDiffBy by =
      by_ == By::kLine ? ObjectsDiffBy::kLine : ObjectsDiffBy::kType;
  const bool one = IsOneProcess(older, newer);
  Table table;
  table.headings = {
      {"net_bytes", "grew by", CellLook::kBytes},
      {"net_objects", "objects"},
      {"new_objects", "new"},
      {"new_bytes", "new size", CellLook::kBytes},
      {"gone_objects", "gone"},
      {"gone_bytes", "gone size", CellLook::kBytes},
      {"grown_bytes", "grown", CellLook::kBytes},
      by == ObjectsDiffBy::kType
          ? Table::Heading{"type", "type", CellLook::kName}
          : Table::Heading{"allocated_line", "allocated by", CellLook::kName}};
  const auto known = [one](auto value) { return one ? Cell(value) : Cell(); };
  // Rows beyond the limit are only counted.
  for (const ObjectsDiffRow& row : DiffGraphs(older, newer, where_, one, by)) {
    if (IsFull(table.rows.size())) {
      ++*more;
      continue;
    }
    table.rows.push_back(
        {row.net_bytes(),
         static_cast<int64_t>(row.new_objects) -
             static_cast<int64_t>(row.old_objects),
         known(row.came), known(row.came_bytes), known(row.gone),
         known(row.gone_bytes), known(row.grown_bytes),
         row.name.empty() && table_.as_text() ? "<not known>" : row.name});
  }
  table.places = table.rows.size();
  return table;
}

// The chain by which a program would name it: from sys.modules, if one of the
// three shortest begins there.
std::string PathOf(ObjectAnalysis* analysis, NodeId node) {
  const ObjectGraph& graph = analysis->graph();
  const auto chains = analysis->ShortestChainsTo(node, 3);
  std::string path;
  for (const Chain& chain : chains) {
    const std::string found = ChainText(graph, chain);
    if (path.empty() || (absl::StartsWith(found, "sys.modules") &&
                         !absl::StartsWith(path, "sys.modules"))) {
      path = found;
    }
  }
  return path;
}

// "dict 0x7f3a1c2d keeps 3.4 MiB more alive: 4.0 MiB."
std::string RowText(const RetainedDiff& row, const std::string& object) {
  const auto text = [](uint64_t bytes) {
    return HumanBytes(static_cast<double>(bytes));
  };
  if (row.node == kNoNode) {
    return absl::StrCat(object, " is gone. It kept ", text(row.old_bytes),
                        " alive.");
  }
  if (row.old_node == kNoNode) {
    return absl::StrCat(object, " is new. It keeps ", text(row.bytes),
                        " alive.");
  }
  const bool is_less = row.grown_bytes < 0;
  return absl::StrCat(
      object, " keeps ",
      text(static_cast<uint64_t>(is_less ? -row.grown_bytes : row.grown_bytes)),
      is_less ? " less" : " more", " alive: ", text(row.bytes), " now.");
}

Table DiffCommand::DominatorsTable(ObjectAnalysis* older, ObjectAnalysis* newer,
                                   std::string* text, uint64_t* more) const {
  Table table;
  table.headings = {{"net_bytes", "grew by", CellLook::kBytes},
                    {"retained_bytes", "retained", CellLook::kBytes},
                    {"address", "address"},
                    {"state", "state"},
                    {"old_retained_bytes", "before", CellLook::kBytes},
                    {"type", "type", CellLook::kName},
                    {"path", "kept alive by", CellLook::kName}};
  // A thousandth of all that is alive: smaller changes are not worth a row.
  const uint64_t least =
      std::max(older->reached_bytes(), newer->reached_bytes()) / 1000;
  for (const RetainedDiff& row : DiffRetained(older, newer, least)) {
    // An object that is gone is described as it was in the older dump.
    const bool is_gone = row.node == kNoNode;
    ObjectAnalysis* const in = is_gone ? older : newer;
    const NodeId node = is_gone ? row.old_node : row.node;
    if (where_.any() && !where_.Matches(in->graph(), node)) continue;
    *more += IsFull(table.rows.size());
    if (IsFull(table.rows.size())) continue;
    const std::string path = PathOf(in, node);
    absl::StrAppend(text, "\n", table.rows.size() + 1, ". ",
                    RowText(row, ShownNode(in->graph(), node)), "\n");
    if (!path.empty()) {
      absl::StrAppend(text, row.node == kNoNode ? "   It was " : "   It is ",
                      TerminalText(path), "\n");
    }
    const std::string address = AddressText(in->graph(), node);
    table.rows.push_back(
        {row.grown_bytes, is_gone ? Cell() : Cell(row.bytes),
         address.empty() ? Cell() : Cell(address),
         std::string(is_gone                   ? "gone"
                     : row.old_node == kNoNode ? "new"
                                               : "changed"),
         row.old_node == kNoNode ? Cell() : Cell(row.old_bytes),
         KindText(in->graph(), node), path.empty() ? Cell() : Cell(path)});
  }
  table.places = table.rows.size();
  return table;
}

void DiffCommand::PrintMore(uint64_t rows, OutputBuffer* output) const {
  if (rows == 0 || !table_.as_text()) return;
  output->AppendLines(absl::StrCat("\n", Counted(rows, "more row"),
                                   "; --limit 0 lists all.\n"));
}

// Dominators have sentences for people; a table for machines.
int DiffCommand::Compare(ObjectAnalysis* older, ObjectAnalysis* newer,
                         const Console& console, OutputBuffer* output) const {
  const std::string heading = Heading(older->graph(), newer->graph());
  uint64_t more = 0;
  if (by_ != By::kDominator) {
    Print(heading, GroupsTable(older->graph(), newer->graph(), &more), output);
    PrintMore(more, output);
    return kExitOk;
  }
  if (!IsOneProcess(older->graph(), newer->graph())) {
    console.Say("--by dominator needs two dumps of one process");
    return kExitFailed;
  }
  std::string text;
  const Table table = DominatorsTable(older, newer, &text, &more);
  if (table_.as_text()) {
    if (text.empty()) {
      text = "No object keeps a thousandth of it more or less alive.\n";
    }
    output->AppendLines(absl::StrCat(heading, Notes(), "\n", text));
    PrintMore(more, output);
  } else {
    PrintTable(table, table_.format(), output);
  }
  return kExitOk;
}

// Both graphs are in memory at the same time.
int DiffCommand::Run(const Console& console, OutputBuffer* output) {
  int code = kExitOk;
  const auto older = Load(files_.paths[0], console, &code);
  if (older == nullptr) return code;
  const auto newer = Load(files_.paths[1], console, &code);
  if (newer == nullptr) return code;
  return std::max(code, Compare(older.get(), newer.get(), console, output));
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsDiffCommand() {
  return std::make_unique<DiffCommand>();
}

}  // namespace pymemrun
