#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/objects_commands/objects_command.h"
#include "readers/objects_export/heap_snapshot.h"
#include "readers/options/option_values.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

enum class Format { kHeapSnapshot };

class ExportCommand final : public ObjectsCommand {
 public:
  ExportCommand()
      : ObjectsCommand("export", "the graph for other tools",
                       "Writes the graph for other tools.\n\nheapsnapshot is "
                       "what Chrome's developer tools and memlab open. Above "
                       "five million objects it counts leaves in the objects "
                       "that hold them, and says how many.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddChoice<Format>(app, "--format", &format_,
                      {{"heapsnapshot", Format::kHeapSnapshot}}, "FORMAT",
                      "heapsnapshot (the default).");
    files_.AddOutput(app);
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console& console,
           OutputBuffer* output) override {
    const uint64_t folded =
        WriteHeapSnapshot(analysis->graph(), kMostSnapshotNodes, output);
    if (folded > 0) {
      console.Say(absl::StrCat(
          TerminalText(files_.paths[0]), ": ",
          Counted(folded, "leaf", "leaves"),
          " counted in the objects that hold them: browsers cannot open so "
          "many"));
    }
    return kExitOk;
  }

  Format format_ = Format::kHeapSnapshot;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsExportCommand() {
  return std::make_unique<ExportCommand>();
}

}  // namespace pymemrun
