#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/analysis.h"
#include "readers/objects/graph/object_text.h"
#include "readers/options/option_values.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

enum class NextTo {
  kParents,   // what refers to it
  kChildren,  // what it refers to
  kRefs,      // its attributes, or a dictionary's entries, by their names
};

// An object next to another, and how that refers to it.
struct Neighbour {
  std::string reference;
  NodeId node;
};

// Attributes and entries of the node alone, by their names.
void AddEntries(const ObjectGraph& graph, NodeId node,
                std::vector<Neighbour>* entries) {
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    const EdgeKind kind = graph.kind(e);
    if (kind == EDGE_VALUE || kind == EDGE_INDEX) {
      std::string text = EdgeText(graph, e);
      // EdgeText() gives "['key']" or "[7]"; here it is the name of an entry.
      if (text.front() == '[') text = text.substr(1, text.size() - 2);
      entries->push_back({std::move(text), graph.target(e)});
    } else if (kind != EDGE_KEY && kind != EDGE_TYPE &&
               !graph.edge_name(e).empty()) {
      entries->push_back({std::string(graph.edge_name(e)), graph.target(e)});
    }
  }
}

// Takes a neighbour; returns whether it wants more.
using Add = absl::FunctionRef<bool(Neighbour)>;

std::string FindParents(NodeId node, ObjectAnalysis* analysis, Add add) {
  for (const uint32_t edge : analysis->parents().EdgesTo(node)) {
    const ObjectGraph& graph = analysis->graph();
    if (!add({EdgeText(graph, edge), graph.SourceOf(edge)})) break;
  }
  const uint64_t count = analysis->parents().count(node);
  return absl::StrCat(Counted(count, "reference"),
                      count == 1 ? " leads" : " lead", " to it.");
}

std::string FindChildren(NodeId node, const ObjectGraph& graph, Add add) {
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    if (!add({EdgeText(graph, e), graph.target(e)})) break;
  }
  return absl::StrCat("It has ", Counted(graph.degree(node), "reference"), ".");
}

// Those of the node, and of its __dict__.
std::string FindEntries(NodeId node, const ObjectGraph& graph, Add add) {
  std::vector<Neighbour> entries;
  AddEntries(graph, node, &entries);
  for (uint32_t e = graph.first_edge(node); e < graph.first_edge(node + 1);
       ++e) {
    if (graph.kind(e) == EDGE_DICT)
      AddEntries(graph, graph.target(e), &entries);
  }
  for (const Neighbour& entry : entries) {
    if (!add(entry)) break;
  }
  return absl::StrCat(
      "It has ", Counted(entries.size(), "named entry", "named entries"), ".");
}

// Hands `add` one after the other, until it returns false. Returns a sentence
// that says how many there are. References without a name are left out of
// kRefs.
std::string FindNeighbours(NextTo what, NodeId node, ObjectAnalysis* analysis,
                           Add add) {
  switch (what) {
    case NextTo::kParents:
      return FindParents(node, analysis, add);
    case NextTo::kChildren:
      return FindChildren(node, analysis->graph(), add);
    case NextTo::kRefs:
      return FindEntries(node, analysis->graph(), add);
  }
  return "";
}

class ShowCommand final : public OneObjectCommand {
 public:
  ShowCommand()
      : OneObjectCommand(
            "show", "one object: size, value, what keeps it alive",
            "Shows one object: what it is, what it keeps alive, and what keeps "
            "it alive.\n\nWith --parents, --children or --refs it lists the "
            "objects next to it instead. An instance's attributes include "
            "those of its __dict__; references without a name are left out.") {}
  std::vector<OldName> OldNames() const override {
    return {{"parents", {"--parents"}},
            {"children", {"--children"}},
            {"refs", {"--refs"}}};
  }

 private:
  void AddRows(CLI::App* app) override {
    const auto add = [this, app](const char* name, NextTo what,
                                 const char* help) {
      app->add_flag_callback(
          name, [this, what] { next_to_ = what; }, help);
    };
    add("--parents", NextTo::kParents, "List what refers to it, and how.");
    add("--children", NextTo::kChildren, "List what it refers to, and how.");
    add("--refs", NextTo::kRefs,
        "List an instance's attributes or a dictionary's entries, by name.");
    ExcludeEachOther(app, {"--parents", "--children", "--refs"});
    AddWhere(app);
    AddTable(app, 40, "object");
    Need(app, {"--where"}, "--parents|--children|--refs");
  }
  bool ShowsAllocations() const override { return !next_to_.has_value(); }
  // What is next to the object.
  void ShowNeighbours(NodeId node, ObjectAnalysis* analysis,
                      OutputBuffer* output) const {
    const bool has_names = *next_to_ == NextTo::kRefs;
    const char* const head = has_names ? "name" : "reference";
    Table table = ObjectTable(Table::Heading{head, head, CellLook::kName});
    const auto add = [&](const Neighbour& one) {
      if (!where_.any() || where_.Matches(analysis->graph(), one.node)) {
        pymemrun::AddObject(analysis, one.node, &table, one.reference);
      }
      // False ends the search, as an object may have millions of references.
      return !IsFull(table.rows.size());
    };
    const std::string sentence = FindNeighbours(*next_to_, node, analysis, add);
    Print(absl::StrCat(ObjectSentence(analysis, node), "\n", sentence), table,
          output);
  }
  // Or why it is not known.
  void AddAllocation(const ObjectGraph& graph, NodeId node,
                     std::string* heading) const {
    std::string text = AllocationText(graph, node, "", kMostFrames);
    if (!text.empty()) {
      text.pop_back();
      absl::StrAppend(heading, "\n", text);
      if (graph.allocations()->Of(node)->is_sure) return;
      absl::StrAppend(heading, "\nCPython reuses blocks of a ",
                      graph.type_name(graph.type(node)),
                      ", so the object may have been made elsewhere.");
    } else if (!no_allocations_.empty()) {
      absl::StrAppend(
          heading, "\nWhere it was allocated is not known: ", no_allocations_);
    } else {
      absl::StrAppend(heading, "\nWhere it was allocated is not known: ",
                      graph.allocations()->sampled()
                          ? "only a sample of the blocks was recorded"
                          : "no heap event records its block");
    }
  }
  // Sentences from what it is to where it came from, then a table of one row.
  // The root as dominator says nothing: everything is freed with it.
  int ShowNode(NodeId node, ObjectAnalysis* analysis,
               OutputBuffer* output) override {
    if (next_to_.has_value()) {
      ShowNeighbours(node, analysis, output);
      return kExitOk;
    }
    const ObjectGraph& graph = analysis->graph();
    std::string heading = ObjectSentence(analysis, node);
    const Chain chain = analysis->chains().To(node);
    if (!chain.empty()) {
      absl::StrAppend(&heading, "\nKept alive by ",
                      TerminalText(ChainText(graph, chain)));
    }
    const NodeId dominator = analysis->dominator(node);
    if (dominator != kNoNode && dominator != kRootNode) {
      absl::StrAppend(&heading, "\nIt would be freed with ",
                      ShownNode(graph, dominator));
    }
    for (const auto& [flag, says] : kFlags) {
      if ((graph.flags(node) & flag) != 0)
        absl::StrAppend(&heading, "\n", says);
    }
    AddAllocation(graph, node, &heading);
    Table table = ObjectTable();
    pymemrun::AddObject(analysis, node, &table);
    FrameBudget budget;
    if (!table_.as_text()) {
      AddAllocationColumns(graph, {node}, &budget, &table);
    }
    Print(heading, table, output);
    return kExitOk;
  }

  static constexpr int kMostFrames = 12;
  static constexpr std::pair<uint32_t, const char*> kFlags[] = {
      {ObjectBatch::IMMORTAL, "It is immortal: it is never freed."},
      {ObjectBatch::ESTIMATED,
       "Its size is an estimate: its __sizeof__ is Python code."},
      {ObjectBatch::FROZEN, "It is frozen: gc.freeze() was called."},
      {ObjectBatch::INTERNED, "It is interned."}};

  std::optional<NextTo> next_to_;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsShowCommand() {
  return std::make_unique<ShowCommand>();
}

}  // namespace pymemrun
