#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/objects_text/object_table.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_text/summary_text.h"

namespace pymemrun {
namespace {

class SummaryCommand final : public ObjectsCommand {
 public:
  SummaryCommand()
      : ObjectsCommand(
            "summary", "each type: how many objects, and their sizes",
            "Lists the types of a dump's objects, the largest first.\n\nA "
            "type's retained bytes would go if its objects went one by one: "
            "their own, and what only they keep alive. An object that another "
            "of its type keeps alive counts with that.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddWhere(app);
    AddTable(app, 20, "type");
  }

 private:
  bool NeedsDetails() const override { return where_.any(); }
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    Print(table_.as_text() ? SummaryText(analysis->graph()) : "",
          TypeTable(analysis, where_, limit()), output);
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsSummaryCommand() {
  return std::make_unique<SummaryCommand>();
}

}  // namespace pymemrun
