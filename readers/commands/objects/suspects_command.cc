#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/suspects.h"
#include "readers/objects/graph/dump_loader.h"
#include "readers/objects/graph/object_text.h"
#include "readers/options/option_values.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// FindSuspects() chooses; this says in sentences what each suspect is, what
// keeps it alive, where its bytes accumulate, and who allocated them.
class SuspectsCommand final : public ObjectsCommand {
 public:
  SuspectsCommand()
      : ObjectsCommand(
            "suspects",
            "what holds most of the memory, and what keeps it alive",
            "Names the objects that keep much of the memory alive, or types "
            "whose objects together do, and says what keeps them alive.\n\n"
            "Modules, threads and their dictionaries are left out.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddParsed(
        app, "--min-share", &percent_,
        [](absl::string_view text) { return ParseNumber(text, 1, 100); },
        "PERCENT",
        "Name those that keep at least PERCENT of all bytes alive (10).");
    AddRun(app);
    AddTable(app, 10, "suspect");
  }

 private:
  bool ShowsAllocations() const override { return true; }
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    std::vector<Suspect> suspects =
        FindSuspects(analysis, static_cast<double>(percent_) / 100);
    // Counted before the limit: the first sentence is about all of them.
    const size_t found = suspects.size();
    if (limit() != 0 && found > limit()) {
      suspects.resize(limit());
    }
    if (!table_.as_text()) {
      PrintTable(ToTable(analysis, suspects), table_.format(), output);
      return kExitOk;
    }
    const std::string all =
        HumanBytes(static_cast<double>(analysis->reached_bytes()));
    if (found == 0) {
      output->AppendLines(absl::StrCat("Nothing keeps ", percent_, " % of ",
                                       all, " alive: no suspect.\n",
                                       RestText(analysis->graph())));
      return kExitOk;
    }
    output->AppendLines(absl::StrCat(
        Counted(found, "suspect"), found == 1 ? " keeps " : " keep ", percent_,
        " % or more of ", all, " alive.\n", RestText(analysis->graph())));
    for (size_t i = 0; i < suspects.size(); ++i) {
      output->AppendLines(
          absl::StrCat("\n", i + 1, ". ", Sentences(analysis, suspects[i])));
    }
    if (!no_allocations_.empty()) {
      output->AppendLines(absl::StrCat(
          "\nWhere they were allocated is not known: ", no_allocations_, "\n"));
    }
    return kExitOk;
  }

  static std::string ChainTo(ObjectAnalysis* analysis, NodeId node) {
    const Chain chain = analysis->chains().To(node);
    return chain.empty() ? "" : ChainText(analysis->graph(), chain);
  }

  static std::string Sentences(ObjectAnalysis* analysis,
                               const Suspect& suspect);
  std::string RestText(const ObjectGraph& graph) const;
  static std::string ReusedText(uint64_t objects);
  static constexpr int kMostFrames = 4;
  static std::string SureAllocation(const ObjectGraph& graph, NodeId node);
  static std::string Below(const ObjectGraph& graph, const Suspect& suspect);
  static std::string LineSentence(const ObjectGraph& graph,
                                  const Suspect& suspect);
  static Table ToTable(ObjectAnalysis* analysis,
                       const std::vector<Suspect>& suspects);

  static constexpr char kOnlySampled[] =
      "\n   --heap all records those that were not sampled.";

  uint64_t percent_ = 10;
};

// Where it was allocated or last enlarged, if that is sure.
std::string SuspectsCommand::SureAllocation(const ObjectGraph& graph,
                                            NodeId node) {
  const NodeAllocations* const known = graph.allocations();
  return known == nullptr || known->SureLineOf(node) == 0
             ? ""
             : AllocationText(graph, node, "   ", kMostFrames);
}

// The resident memory at the dump, without tracing's own, that no object
// explains.
std::string SuspectsCommand::RestText(const ObjectGraph& graph) const {
  const uint64_t resident = graph.facts().begin.rss_bytes();
  const uint64_t rss = resident - std::min(resident, own_bytes_);
  if (rss <= graph.total_bytes()) return "";
  const auto all = static_cast<double>(rss);
  const double rest = all - static_cast<double>(graph.total_bytes());
  return absl::StrCat(
      "No object explains ", HumanBytes(rest), " (", Percent(rest / all),
      ") of the ", HumanBytes(all),
      own_bytes_ > 0 ? " that the program had resident:\nmemory of C code and "
                       "libraries, or free memory.\n"
                     : " that were resident:\nmemory of C code and libraries, "
                       "free memory, or tracing itself.\n");
}

// "1,829 of them use the memory of earlier objects again: ...".
std::string SuspectsCommand::ReusedText(uint64_t objects) {
  if (objects == 0) return "";
  return absl::StrCat(
      "   The lines of ", Grouped(objects),
      " are not known: CPython reused memory of earlier objects.\n");
}

// "39,998 of them were allocated by cache.py:4 fill."
std::string SuspectsCommand::LineSentence(const ObjectGraph& graph,
                                          const Suspect& suspect) {
  // A group's own objects are counted. For a single suspect these are the
  // objects below it that hold most.
  const uint64_t objects =
      suspect.objects > 1 ? suspect.objects : suspect.most_objects;
  const std::string line = ShownLine(graph, suspect.most_line);
  const std::string by =
      absl::StrCat(graph.allocations()->Of(suspect.most_line_node)->is_beside
                       ? " allocated or last enlarged by "
                       : " allocated by ",
                   line, ".");
  if (objects == 1) return absl::StrCat("It was", by);
  return absl::StrCat(
      suspect.most_line_objects == objects
          ? "All"
          : absl::StrCat(Grouped(suspect.most_line_objects)),
      suspect.most_line_objects == 1 ? " of them was" : " of them were", by,
      graph.allocations()->sampled() && suspect.most_line_objects < objects
          ? kOnlySampled
          : "");
}

// What most of the bytes are in, and which line allocated that.
std::string SuspectsCommand::Below(const ObjectGraph& graph,
                                   const Suspect& suspect) {
  const bool is_group = suspect.objects > 1;
  std::string text;
  // The objects of one type that take most bytes below the suspect.
  if (suspect.most_objects > 0) {
    absl::StrAppend(&text, "   There ",
                    suspect.most_objects == 1 ? "is " : "are ",
                    Counted(suspect.most_objects, "object"), " of ",
                    TerminalText(graph.type_name(suspect.most_type)), " with ",
                    HumanBytes(static_cast<double>(suspect.most_bytes)), ".\n");
  }
  text += ReusedText(suspect.reused_objects);
  if (suspect.most_line != 0) {
    absl::StrAppend(
        &text, "   ", LineSentence(graph, suspect), "\n",
        AllocationText(
            graph, suspect.most_line_node, "   ", kMostFrames,
            is_group || suspect.most_objects > 1 ? "One of them" : ""));
  }
  return text;
}

// The accumulation is the object below the suspect in which the bytes come
// together, such as a dict in an instance.
std::string SuspectsCommand::Sentences(ObjectAnalysis* analysis,
                                       const Suspect& suspect) {
  const ObjectGraph& graph = analysis->graph();
  const bool is_group = suspect.objects > 1;
  std::string text = absl::StrCat(
      is_group ? absl::StrCat(Counted(suspect.objects, "object"), " of ",
                              TerminalText(KindText(graph, suspect.node)))
               : ShownNode(graph, suspect.node),
      is_group ? " together keep " : " keeps ",
      HumanBytes(static_cast<double>(suspect.retained_bytes)), " alive, ",
      Percent(analysis->ShareOf(suspect.retained_bytes)), ".\n");
  const std::string chain = TerminalText(ChainTo(analysis, suspect.node));
  // It begins with the root's reference to what no other root reaches.
  if (absl::StartsWith(chain, kNotReached)) {
    absl::StrAppend(&text, "   No root leads to ", is_group ? "them" : "it",
                    ": garbage that waits for the cycle collector, or C code "
                    "holds ",
                    is_group ? "them" : "it", ".\n");
  } else if (!chain.empty()) {
    absl::StrAppend(&text, is_group ? "   One of them is " : "   It is ", chain,
                    "\n");
  }
  if (!is_group) text += SureAllocation(graph, suspect.node);
  if (suspect.accumulation != suspect.node) {
    absl::StrAppend(
        &text, "   The bytes are in ", ShownNode(graph, suspect.accumulation),
        ", ", TerminalText(ChainTo(analysis, suspect.accumulation)), "\n");
  }
  if (suspect.accumulation != suspect.node) {
    text += SureAllocation(graph, suspect.accumulation);
  }
  return text + Below(graph, suspect);
}

// Columns of allocations are about the accumulation, where the objects are.
Table SuspectsCommand::ToTable(ObjectAnalysis* analysis,
                               const std::vector<Suspect>& suspects) {
  const ObjectGraph& graph = analysis->graph();
  Table table;
  table.headings = {{"retained_bytes", "retained", CellLook::kBytes},
                    {"share", "share", CellLook::kShare},
                    {"objects", "objects"},
                    {"type", "type"},
                    {"address", "address"},
                    {"path", "path"},
                    {"accumulation_address", "accumulation"},
                    {"accumulation_path", "accumulation path"},
                    {"most_type", "of"},
                    {"most_objects", "objects"},
                    {"most_bytes", "bytes", CellLook::kBytes},
                    {"most_line", "by"},
                    {"most_line_objects", "objects"}};
  std::vector<NodeId> accumulations;
  for (const Suspect& suspect : suspects) {
    table.rows.push_back(
        {suspect.retained_bytes, analysis->ShareOf(suspect.retained_bytes),
         suspect.objects, KindText(graph, suspect.node),
         AddressText(graph, suspect.node), ChainTo(analysis, suspect.node),
         AddressText(graph, suspect.accumulation),
         ChainTo(analysis, suspect.accumulation),
         suspect.most_objects == 0 ? Cell()
                                   : Cell(graph.type_name(suspect.most_type)),
         suspect.most_objects, suspect.most_bytes,
         suspect.most_line == 0
             ? Cell()
             : Cell(graph.allocations()->LineText(suspect.most_line)),
         suspect.most_line == 0 ? Cell() : Cell(suspect.most_line_objects)});
    accumulations.push_back(suspect.accumulation);
  }
  FrameBudget budget;
  AddAllocationColumns(graph, accumulations, &budget, &table);
  table.places = table.rows.size();
  return table;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsSuspectsCommand() {
  return std::make_unique<SuspectsCommand>();
}

}  // namespace pymemrun
