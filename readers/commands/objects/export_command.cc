#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/export/objects/folded_leaves.h"
#include "readers/export/objects/heap_snapshot.h"
#include "readers/export/objects/perfetto_heap.h"
#include "readers/options/option_values.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

enum class GraphFormat { kHeapSnapshot, kPerfetto };

// Both writers stream while they walk the graph. A heap snapshot is JSON, so a
// terminal can show it; a trace is binary.
class ExportCommand final : public ObjectsCommand {
 public:
  ExportCommand()
      : ObjectsCommand("export", "the graph for other tools",
                       "Writes the graph for other tools.\n\nheapsnapshot is "
                       "what Chrome's developer tools and memlab open. "
                       "perfetto is a trace for Perfetto's UI. Above five "
                       "million objects, leaves are counted in the objects "
                       "that hold them, and their number is printed.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddChoice<GraphFormat>(app, "--format", &format_,
                           {{"heapsnapshot", GraphFormat::kHeapSnapshot},
                            {"perfetto", GraphFormat::kPerfetto}},
                           "FORMAT", "heapsnapshot (the default) or perfetto.");
    files_.AddOutput(app);
  }

 private:
  std::string OfOneRun() const override { return "an export"; }
  std::string NotForTerminal() const override {
    return format_ == GraphFormat::kPerfetto ? "traces" : "";
  }
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const uint64_t folded =
        format_ == GraphFormat::kPerfetto
            ? WritePerfettoHeap(analysis->graph(), kMostExportedNodes, output)
            : WriteHeapSnapshot(analysis->graph(), kMostExportedNodes, output);
    if (folded > 0) {
      console.Say(absl::StrCat(
          TerminalText(files_.paths[0]), ": ",
          Counted(folded, "leaf", "leaves"),
          " counted in the objects that hold them: browsers cannot open so "
          "many"));
    }
    return kExitOk;
  }

  GraphFormat format_ = GraphFormat::kHeapSnapshot;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace pymemrun
