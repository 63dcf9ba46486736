#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "readers/objects/dump_loader.h"
#include "readers/objects/object_text.h"
#include "readers/objects_commands/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_findings/suspects.h"
#include "readers/options/option_values.h"
#include "text/columns.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

class SuspectsCommand final : public ObjectsCommand {
 public:
  SuspectsCommand()
      : ObjectsCommand(
            "suspects", "what holds most of the memory, and what keeps that",
            "Names the objects that keep much of the memory alive, or types "
            "whose objects together do, and says what keeps them alive.\n\n"
            "Modules, threads and their dictionaries are left out.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddParsed(
        app, "--min-share", &percent_,
        [](absl::string_view text) { return ParseNumber(text, 1, 100); },
        "PERCENT", "Name those that keep PERCENT of all alive (10).");
    AddTable(app, 10, "suspect");
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    std::vector<Suspect> suspects =
        FindSuspects(analysis, static_cast<double>(percent_) / 100);
    const size_t found = suspects.size();
    if (table_.limit() != 0 && found > table_.limit()) {
      suspects.resize(table_.limit());
    }
    if (!table_.as_text()) {
      PrintTable(ToTable(analysis, suspects), table_.format(), output);
      return kExitOk;
    }
    const std::string all =
        HumanBytes(static_cast<double>(analysis->reached_bytes()));
    if (found == 0) {
      output->AppendLines(absl::StrCat("Nothing keeps ", percent_, " % of ",
                                       all, " alive: no suspect.\n"));
      return kExitOk;
    }
    output->AppendLines(absl::StrCat(
        Counted(found, "suspect"), found == 1 ? " keeps " : " keep ", percent_,
        " % or more of ", all, " alive.\n"));
    for (size_t i = 0; i < suspects.size(); ++i) {
      output->AppendLines(
          absl::StrCat("\n", i + 1, ". ", Sentences(analysis, suspects[i])));
    }
    return kExitOk;
  }

  static std::string ChainTo(ObjectAnalysis* analysis, NodeId node) {
    const auto chains = ShortestChains(analysis->graph(), analysis->parents(),
                                       node, /*count=*/1);
    return chains.empty() ? "" : ChainText(analysis->graph(), chains[0]);
  }

  static std::string Sentences(ObjectAnalysis* analysis,
                               const Suspect& suspect);
  static Table ToTable(ObjectAnalysis* analysis,
                       const std::vector<Suspect>& suspects);

  uint64_t percent_ = 10;
};

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
  if (absl::StartsWith(chain, kNotReached)) {
    absl::StrAppend(&text, "   No root leads to ", is_group ? "them" : "it",
                    ": garbage that waits for the cycle collector, or C code "
                    "holds ",
                    is_group ? "them" : "it", ".\n");
  } else if (!chain.empty()) {
    absl::StrAppend(&text, is_group ? "   One of them is " : "   It is ", chain,
                    "\n");
  }
  if (suspect.accumulation != suspect.node) {
    absl::StrAppend(
        &text, "   The bytes are in ", ShownNode(graph, suspect.accumulation),
        ", ", TerminalText(ChainTo(analysis, suspect.accumulation)), "\n");
  }
  if (suspect.most_objects > 0) {
    absl::StrAppend(&text, "   There ",
                    suspect.most_objects == 1 ? "is " : "are ",
                    Counted(suspect.most_objects, "object"), " of ",
                    TerminalText(graph.type_name(suspect.most_type)), " with ",
                    HumanBytes(static_cast<double>(suspect.most_bytes)), ".\n");
  }
  return text;
}

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
                    {"most_bytes", "bytes", CellLook::kBytes}};
  for (const Suspect& suspect : suspects) {
    table.rows.push_back(
        {suspect.retained_bytes, analysis->ShareOf(suspect.retained_bytes),
         suspect.objects, KindText(graph, suspect.node),
         AddressText(graph, suspect.node), ChainTo(analysis, suspect.node),
         AddressText(graph, suspect.accumulation),
         ChainTo(analysis, suspect.accumulation),
         suspect.most_objects == 0 ? Cell()
                                   : Cell(graph.type_name(suspect.most_type)),
         suspect.most_objects, suspect.most_bytes});
  }
  table.places = table.rows.size();
  return table;
}

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsSuspectsCommand() {
  return std::make_unique<SuspectsCommand>();
}

}  // namespace pymemrun
