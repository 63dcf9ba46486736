#include "readers/commands/objects/allocation_text.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "readers/run/own_code.h"
#include "text/columns.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// A terminal's line has room for such a path, and for a function behind it.
constexpr size_t kPathColumns = 44;
constexpr size_t kFunctionColumns = 24;

std::string ShownFrame(const Header& header, const SourceLocation& where) {
  const std::string function = CutToColumns(where.code_name, kFunctionColumns);
  if (where.file.empty()) return function;
  const std::string path =
      CutPath(TerminalText(ShortPath(where.file, header.cwd())), kPathColumns,
              /*unicode=*/false);
  return absl::StrCat(path, ":", where.line, " ", function);
}

}  // namespace

std::string AllocationText(const ObjectGraph& graph, NodeId node,
                           absl::string_view indent, int most_frames,
                           absl::string_view lead) {
  const NodeAllocations* const known = graph.allocations();
  const auto allocation = known == nullptr ? std::nullopt : known->Of(node);
  if (!allocation.has_value()) return "";
  const RunIndex& index = known->index();
  if (lead.empty()) {
    lead = allocation->is_beside ? "Allocated or last enlarged" : "Allocated";
  }
  std::string text = absl::StrCat(
      indent, lead, " ",
      allocation->time_us.has_value()
          ? absl::StrCat("at ", HumanSeconds(*allocation->time_us))
          : "before the process was forked",
      " by ", TerminalText(index.LatestThreadLabel(allocation->thread)), ":\n");
  int frames = 0;
  for (uint32_t stack = allocation->stack; stack != 0 || frames == 0;
       stack = index.ParentStack(stack)) {
    const SourceLocation where = index.ResolveStack(stack);
    if (frames > 0 && OwnCode::IsImportMachinery(where.file)) continue;
    if (frames++ == most_frames) {
      absl::StrAppend(&text, indent, "  ...\n");
      break;
    }
    absl::StrAppend(&text, indent, "  ",
                    ShownFrame(graph.facts().header, where), "\n");
  }
  return text;
}

std::string ShownLine(const ObjectGraph& graph, uint32_t line) {
  const std::string& text = graph.allocations()->LineText(line);
  return TerminalText(ShortPath(text, graph.facts().header.cwd()));
}

std::vector<Table::Heading> AllocationHeadings() {
  return {{"allocated_line", "allocated by", CellLook::kName},
          {"allocated_stack", "stack", CellLook::kName},
          {"allocated_s", "time"},
          {"allocated_thread", "thread", CellLook::kName},
          {"allocated_sure", "sure"}};
}

void AddAllocationCells(const ObjectGraph& graph, NodeId node,
                        FrameBudget* budget, std::vector<Cell>* row) {
  const NodeAllocations* const known = graph.allocations();
  const auto allocation = known == nullptr ? std::nullopt : known->Of(node);
  if (!allocation.has_value()) {
    row->resize(row->size() + AllocationHeadings().size());
    return;
  }
  row->emplace_back(known->LineText(known->LineOf(node)));
  row->emplace_back(known->index().StackText(allocation->stack, budget));
  row->push_back(allocation->time_us.has_value()
                     ? Cell(static_cast<double>(*allocation->time_us) / 1e6)
                     : Cell());
  row->emplace_back(
      std::string(known->index().LatestThreadLabel(allocation->thread)));
  row->emplace_back(uint64_t{allocation->is_sure});
}

void AddAllocationColumns(const ObjectGraph& graph,
                          absl::Span<const NodeId> nodes, FrameBudget* budget,
                          Table* table) {
  for (const Table::Heading& heading : AllocationHeadings()) {
    table->headings.push_back(heading);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    AddAllocationCells(graph, nodes[i], budget, &table->rows[i]);
  }
}

}  // namespace pymemrun
