#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/objects_text/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_text/summary_text.h"
#include "readers/objects_findings/collapse.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

class CollapseCommand final : public ObjectsCommand {
 public:
  CollapseCommand()
      : ObjectsCommand("collapse",
                       "the summary, with __dict__s counted in their instances",
                       "Lists types as summary does, with the __dict__ of each "
                       "instance counted in the instance. It is for types "
                       "whose attributes take more than they do.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddWhere(app);
    AddTable(app, 20, "type");
  }

 private:
  // Of the graph that it makes, not of the one that was read.
  bool NeedsAllocations() const override { return false; }
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
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
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsCollapseCommand() {
  return std::make_unique<CollapseCommand>();
}

}  // namespace pymemrun
