// parents, children and refs: what is next to an object.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "readers/objects_commands/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

const Table::Heading kReference = {"reference", "reference", CellLook::kName};

class NeighboursCommand : public ObjectsCommand {
 public:
  using ObjectsCommand::ObjectsCommand;
  void AddOptions(CLI::App* app) override {
    AddFile(app);
    ObjectsCommand::AddObject(app);
    AddWhere(app);
    AddTable(app, 40, "reference");
  }
};

class ParentsCommand final : public NeighboursCommand {
 public:
  ParentsCommand()
      : NeighboursCommand("parents", "what refers to an object",
                          "Lists what refers to an object, and how.") {}

 private:
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const NodeId node = NamedNode(graph, console);
    if (node == kNoNode) return kExitFailed;
    Table table = ObjectTable(kReference);
    for (const uint32_t edge : analysis->parents().EdgesTo(node)) {
      const NodeId parent = graph.SourceOf(edge);
      if (IsFull(table.rows.size())) break;
      if (where_.any() && !where_.Matches(graph, parent)) continue;
      pymemrun::AddObject(analysis, parent, &table, EdgeText(graph, edge));
    }
    Print(
        absl::StrCat(ObjectSentence(analysis, node), "\n",
                     Counted(analysis->parents().count(node), "reference"),
                     analysis->parents().count(node) == 1 ? " leads" : " lead",
                     " to it."),
        table, output);
    return kExitOk;
  }
};

class ChildrenCommand final : public NeighboursCommand {
 public:
  ChildrenCommand()
      : NeighboursCommand("children", "what an object refers to",
                          "Lists what an object refers to, and how.") {}

 private:
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const NodeId node = NamedNode(graph, console);
    if (node == kNoNode) return kExitFailed;
    Table table = ObjectTable(kReference);
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      if (IsFull(table.rows.size())) break;
      if (where_.any() && !where_.Matches(graph, graph.target(e))) continue;
      pymemrun::AddObject(analysis, graph.target(e), &table,
                          EdgeText(graph, e));
    }
    Print(absl::StrCat(ObjectSentence(analysis, node), "\nIt has ",
                       Counted(graph.degree(node), "reference"), "."),
          table, output);
    return kExitOk;
  }
};

// An entry of a dictionary or of an instance's, with what it is named by.
struct Entry {
  std::string name;
  NodeId value;
};

class RefsCommand final : public NeighboursCommand {
 public:
  RefsCommand()
      : NeighboursCommand(
            "refs", "an object's attributes or entries, by their names",
            "Shows an instance's attributes or a dictionary's entries by "
            "name.\n\nThe attributes of an instance are those of its __dict__, "
            "too. References without a name are left out.") {}

 private:
  // Those of the node, and of its __dict__.
  static void AddEntries(const ObjectGraph& graph, NodeId node,
                         std::vector<Entry>* entries) {
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      const EdgeKind kind = graph.kind(e);
      if (kind == EDGE_VALUE || kind == EDGE_INDEX) {
        std::string text = EdgeText(graph, e);
        if (text.front() == '[') text = text.substr(1, text.size() - 2);
        entries->push_back({std::move(text), graph.target(e)});
      } else if (kind != EDGE_KEY && kind != EDGE_TYPE &&
                 !graph.edge_name(e).empty()) {
        entries->push_back({std::string(graph.edge_name(e)), graph.target(e)});
      }
    }
  }

  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const NodeId node = NamedNode(graph, console);
    if (node == kNoNode) return kExitFailed;
    std::vector<Entry> entries;
    AddEntries(graph, node, &entries);
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      if (graph.kind(e) == EDGE_DICT) {
        AddEntries(graph, graph.target(e), &entries);
      }
    }
    Table table = ObjectTable(Table::Heading{"name", "name", CellLook::kName});
    for (const Entry& entry : entries) {
      if (IsFull(table.rows.size())) break;
      if (where_.any() && !where_.Matches(graph, entry.value)) continue;
      pymemrun::AddObject(analysis, entry.value, &table, entry.name);
    }
    Print(absl::StrCat(ObjectSentence(analysis, node), "\nIt has ",
                       Counted(entries.size(), "named entry", "named entries"),
                       "."),
          table, output);
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsParentsCommand() {
  return std::make_unique<ParentsCommand>();
}
std::unique_ptr<ReportCommand> NewObjectsChildrenCommand() {
  return std::make_unique<ChildrenCommand>();
}
std::unique_ptr<ReportCommand> NewObjectsRefsCommand() {
  return std::make_unique<RefsCommand>();
}

}  // namespace pymemrun
