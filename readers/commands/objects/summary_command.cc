#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/collapse.h"
#include "readers/objects/graph/object_graph.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

const char* ReasonText(ObjectsReason reason) {
  switch (reason) {
    case OBJECTS_AT_EXIT:
      return "when the program ended";
    case OBJECTS_AT_PEAK:
      return "at a new peak of RSS";
    case OBJECTS_EVERY:
      return "at a set interval";
    case OBJECTS_RSS_ABOVE:
      return "when RSS passed a limit";
    case OBJECTS_SIGNAL:
      return "on a signal";
    case OBJECTS_OUTSIDE:
      return "when another process asked";
    default:
      return "when the program asked";
  }
}

// "3,621,044 objects of 412 types take 496.8 MiB. ..." and of what process and
// moment they are, as far as it is known.
std::string SummaryText(const ObjectGraph& graph) {
  std::vector<bool> used(graph.types().size());
  uint64_t types = 0;
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (used[graph.type(node)] || graph.is_synthetic(node)) continue;
    used[graph.type(node)] = true;
    ++types;
  }
  std::string text = absl::StrCat(
      Counted(graph.objects(), "object"), " of ", Counted(types, "type"),
      graph.objects() == 1 ? " takes " : " take ",
      HumanBytes(static_cast<double>(graph.total_bytes())), ".");
  const DumpFacts& facts = graph.facts();
  if (facts.header.pid() == 0) return text;
  absl::StrAppend(&text, " They are those of process ", facts.header.pid(),
                  " after ", HumanSeconds(facts.begin.time_us()), ", ",
                  ReasonText(facts.begin.reason()), ".");
  if (facts.begin.rss_bytes() != 0) {
    absl::StrAppend(&text, " RSS was ",
                    HumanBytes(static_cast<double>(facts.begin.rss_bytes())),
                    ".");
  }
  if (facts.begin.pause_us() != 0) {
    absl::StrAppend(&text, " The program was paused for ",
                    HumanSeconds(facts.begin.pause_us()), ".");
  }
  return text;
}

class SummaryCommand final : public ObjectsCommand {
 public:
  SummaryCommand()
      : ObjectsCommand(
            "summary", "each type: how many objects, and their sizes",
            "Lists the types of a dump's objects, the largest first.\n\nA "
            "type's retained bytes are its objects' own bytes and all that "
            "only one of these objects keeps alive. An object that another of "
            "its type keeps alive is counted with the other. With --collapse "
            "the "
            "__dict__ of each instance is counted in the instance: for types "
            "whose attributes take more than they do.") {}
  std::vector<OldName> OldNames() const override {
    return {{"collapse", {"--collapse"}}};
  }

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    app->add_flag("--collapse", collapse_,
                  "Count each __dict__ in its instance.");
    AddWhere(app);
    AddTable(app, 20, "type");
  }

 private:
  // Sums by type need only types and sizes.
  bool NeedsDetails() const override { return collapse_ || where_.any(); }
  // --collapse: of the graph that it makes, not of the one that was read.
  bool NeedsAllocations() const override {
    return !collapse_ && ObjectsCommand::NeedsAllocations();
  }
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    if (collapse_) return ShowCollapsed(analysis, console, output);
    Print(table_.as_text() ? SummaryText(analysis->graph()) : "",
          TypeTable(analysis, where_, limit()), output);
    return kExitOk;
  }
  // Nodes of the new graph have other numbers, so allocations are joined to it
  // anew.
  int ShowCollapsed(ObjectAnalysis* analysis, const Console& console,
                    OutputBuffer* output) {
    const uint64_t before = analysis->graph().objects();
    Collapsed collapsed = CollapseInstanceDicts(analysis->graph());
    int code = kExitOk;
    const auto take = [&](std::unique_ptr<NodeAllocations> allocations) {
      collapsed.graph->TakeAllocations(std::move(allocations));
    };
    if (where_.has_line() && !Join(files_.paths[0], /*is_needed=*/true, console,
                                   *collapsed.graph, take, &code)) {
      return code;
    }
    ObjectAnalysis folded(std::move(collapsed.graph));
    Print(absl::StrCat(Counted(collapsed.dicts, "__dict__", "__dict__s"),
                       " of ", Counted(before, "object"), " ",
                       collapsed.dicts == 1 ? "is" : "are",
                       " counted in the instances.\n",
                       SummaryText(folded.graph())),
          TypeTable(&folded, where_, limit()), output);
    return code;
  }

  bool collapse_ = false;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsSummaryCommand() {
  return std::make_unique<SummaryCommand>();
}

}  // namespace pymemrun
