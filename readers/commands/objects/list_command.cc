#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "readers/commands/objects/object_table.h"
#include "readers/commands/objects/objects_command.h"
#include "readers/options/option_values.h"
#include "readers/output/table_columns.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

enum class Order { kRetained, kSize, kLength };

class ListCommand final : public ObjectsCommand {
 public:
  ListCommand()
      : ObjectsCommand("list", "objects, those that retain most first",
                       "Lists objects, those that retain most first. --where "
                       "chooses among them.") {}

  void AddOptions(CLI::App* app) override {
    AddFile(app);
    AddWhere(app);
    const auto parse = [this](absl::string_view text) -> absl::StatusOr<Order> {
      const SortOrder order = SortOrder::Of(text);
      rises_ = order.rises.value_or(false);
      const auto column =
          ParseChoice<Order>(order.column, {{"retained", Order::kRetained},
                                            {"size", Order::kSize},
                                            {"length", Order::kLength}});
      if (column.ok()) return column;
      return SortOrder::Unknown({"retained", "size", "length"}, text);
    };
    AddParsed(app, "--sort", &order_, parse, "COLUMN",
              absl::StrCat("Sort by retained (the default; bytes), size or "
                           "length, the largest first. ",
                           kSortsOtherwise));
    AddTable(app, 20, "object");
  }

 private:
  bool ShowsAllocations() const override { return !table_.as_text(); }
  // The heading counts only the objects that --where chooses.
  bool HeadsAll() const override { return false; }
  int Show(ObjectAnalysis* analysis, const Console&,
           OutputBuffer* output) override {
    const ObjectGraph& graph = analysis->graph();
    std::vector<NodeId> found;
    uint64_t bytes = 0;
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      if (!where_.Matches(graph, node)) continue;
      found.push_back(node);
      bytes += graph.size_bytes(node);
    }
    const uint64_t count = found.size();
    // Called for each comparison: sizes and lengths are looked up, not copied.
    const auto value = [&](NodeId node) -> std::optional<uint64_t> {
      return order_ == Order::kRetained ? analysis->retained(node)
             : order_ == Order::kSize   ? graph.size_bytes(node)
                                        : graph.details(node).length;
    };
    const size_t listed =
        limit() == 0 ? found.size() : std::min<size_t>(found.size(), limit());
    // Only the rows listed are sorted: n log k for k of n objects. Equal ones
    // keep the order of the dump.
    std::partial_sort(found.begin(), found.begin() + listed, found.end(),
                      [&](NodeId a, NodeId b) {
                        const auto x = value(a), y = value(b);
                        if (x == y) return a < b;
                        // Objects without a length come last either way.
                        if (!x.has_value() || !y.has_value()) {
                          return x.has_value();
                        }
                        return (*x < *y) == rises_;
                      });
    found.resize(listed);
    if (!table_.as_text()) {
      PrintAll(found, analysis, output);
      return kExitOk;
    }
    Print(absl::StrCat(Counted(count, "object"),
                       count == 1 ? " takes " : " take ",
                       HumanBytes(static_cast<double>(bytes)), "."),
          TableOf(found, analysis), output);
    return kExitOk;
  }

  static Table TableOf(absl::Span<const NodeId> nodes,
                       ObjectAnalysis* analysis) {
    Table table = ObjectTable();
    for (const NodeId node : nodes) {
      pymemrun::AddObject(analysis, node, &table);
    }
    return table;
  }

  // For machines, a part at a time: there may be millions of rows.
  void PrintAll(absl::Span<const NodeId> nodes, ObjectAnalysis* analysis,
                OutputBuffer* output) const {
    constexpr size_t kPartRows = 4096;
    TableParts parts(table_.format(), output);
    FrameBudget budget;
    do {
      const auto part = nodes.subspan(0, kPartRows);
      Table table = TableOf(part, analysis);
      AddAllocationColumns(analysis->graph(), part, &budget, &table);
      parts.Print(table);
      nodes.remove_prefix(part.size());
    } while (!nodes.empty());
    parts.Finish();
  }

  Order order_ = Order::kRetained;
  bool rises_ = false;
};

}  // namespace

std::unique_ptr<ReportCommand> NewObjectsListCommand() {
  return std::make_unique<ListCommand>();
}

}  // namespace pymemrun
