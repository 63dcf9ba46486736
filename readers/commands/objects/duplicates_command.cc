#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/objects/findings/duplicates.h"
#include "readers/objects/graph/object_text.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

// FindDuplicates() compares values; of texts that the dump has cut, lengths and
// hashes. This sums up and prints.
class DuplicatesCommand final : public ObjectsCommand {
 public:
  DuplicatesCommand()
      : ObjectsCommand(
            "duplicates", "equal strings, and what keeping one copy would save",
            "Lists strings and bytes that are in memory several times, and how "
            "many bytes one shared copy would save, as with sys.intern().") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddWhere(app);
    AddTable(app, 20, "value");
  }

 private:
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    const std::vector<Duplicates> found = FindDuplicates(graph, where_);
    Table table;
    table.headings = {{"saving_bytes", "saving", CellLook::kBytes},
                      {"objects", "objects"},
                      {"bytes", "size", CellLook::kBytes},
                      {"address", "first"},
                      {"type", "type", CellLook::kName},
                      {"value", "value", CellLook::kName}};
    uint64_t saving = 0, objects = 0;
    // The sentence counts all of them, also those beyond the limit.
    for (const Duplicates& equal : found) {
      saving += equal.saving_bytes;
      objects += equal.count - 1;
      if (IsFull(table.rows.size())) continue;
      table.rows.push_back({equal.saving_bytes, equal.count, equal.size_bytes,
                            AddressText(graph, equal.first),
                            KindText(graph, equal.first),
                            ValueText(graph, equal.first)});
    }
    table.places = table.rows.size();
    Print(found.empty()
              ? "No two strings or bytes are equal."
              : absl::StrCat("One copy of each would save ",
                             HumanBytes(static_cast<double>(saving)), ": ",
                             Counted(objects, "object"), " could go."),
          table, output);
    return kExitOk;
  }
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsDuplicatesCommand() {
  return std::make_unique<DuplicatesCommand>();
}

}  // namespace pymemrun
