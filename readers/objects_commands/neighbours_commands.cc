// parents, children and refs: what is next to an object.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/object_text.h"
#include "readers/objects_text/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// An object next to another, and how that refers to it.
struct Neighbour {
  std::string reference;
  NodeId node;
};

class NeighboursCommand : public OneObjectCommand {
 public:
  using OneObjectCommand::OneObjectCommand;

 protected:
  // Hands `add` the neighbours, until it returns false.
  using Add = absl::FunctionRef<bool(Neighbour)>;
  virtual void Find(NodeId node, ObjectAnalysis* analysis, Add add) = 0;
  // What stands above the table, behind the object.
  virtual std::string Found(NodeId node, ObjectAnalysis* analysis) = 0;
  virtual Table::Heading Heading() const {
    return {"reference", "reference", CellLook::kName};
  }

 private:
  void AddRows(CLI::App* app) override {
    AddWhere(app);
    AddTable(app, 40, "reference");
  }
  int ShowNode(NodeId node, ObjectAnalysis* analysis,
               OutputBuffer* output) override {
    Table table = ObjectTable(Heading());
    Find(node, analysis, [&](Neighbour found) {
      if (!where_.any() || where_.Matches(analysis->graph(), found.node)) {
        pymemrun::AddObject(analysis, found.node, &table, found.reference);
      }
      return !IsFull(table.rows.size());
    });
    Print(absl::StrCat(ObjectSentence(analysis, node), "\n",
                       Found(node, analysis)),
          table, output);
    return kExitOk;
  }
};

class ParentsCommand final : public NeighboursCommand {
 public:
  ParentsCommand()
      : NeighboursCommand("parents", "what refers to an object",
                          "Lists what refers to an object, and how.") {}

 private:
  void Find(NodeId node, ObjectAnalysis* analysis, Add add) override {
    const ObjectGraph& graph = analysis->graph();
    for (const uint32_t edge : analysis->parents().EdgesTo(node)) {
      if (!add({EdgeText(graph, edge), graph.SourceOf(edge)})) return;
    }
  }
  std::string Found(NodeId node, ObjectAnalysis* analysis) override {
    const uint64_t count = analysis->parents().count(node);
    return absl::StrCat(Counted(count, "reference"),
                        count == 1 ? " leads" : " lead", " to it.");
  }
};

class ChildrenCommand final : public NeighboursCommand {
 public:
  ChildrenCommand()
      : NeighboursCommand("children", "what an object refers to",
                          "Lists what an object refers to, and how.") {}

 private:
  void Find(NodeId node, ObjectAnalysis* analysis, Add add) override {
    const ObjectGraph& graph = analysis->graph();
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      if (!add({EdgeText(graph, e), graph.target(e)})) return;
    }
  }
  std::string Found(NodeId node, ObjectAnalysis* analysis) override {
    return absl::StrCat(
        "It has ", Counted(analysis->graph().degree(node), "reference"), ".");
  }
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
                         std::vector<Neighbour>* entries) {
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

  void Find(NodeId node, ObjectAnalysis* analysis, Add add) override {
    const ObjectGraph& graph = analysis->graph();
    entries_.clear();
    AddEntries(graph, node, &entries_);
    for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
         ++e) {
      if (graph.kind(e) == EDGE_DICT) {
        AddEntries(graph, graph.target(e), &entries_);
      }
    }
    for (const Neighbour& entry : entries_) {
      if (!add(entry)) return;
    }
  }
  std::string Found(NodeId, ObjectAnalysis*) override {
    return absl::StrCat(
        "It has ", Counted(entries_.size(), "named entry", "named entries"),
        ".");
  }
  Table::Heading Heading() const override {
    return {"name", "name", CellLook::kName};
  }

  std::vector<Neighbour> entries_;
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
