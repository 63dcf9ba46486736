#include "readers/commands/objects/object_table.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects/graph/object_text.h"
#include "readers/run/own_code.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {

Table ObjectTable(const std::optional<Table::Heading>& first) {
  Table table;
  if (first.has_value()) table.headings.push_back(*first);
  for (const Table::Heading& heading : std::vector<Table::Heading>{
           {"bytes", "size", CellLook::kBytes},
           {"retained_bytes", "retained", CellLook::kBytes},
           {"address", "address"},
           {"references", "refs"},
           {"parents", "parents"},
           {"length", "len"},
           {"type", "type", CellLook::kName},
           {"value", "value", CellLook::kName}}) {
    table.headings.push_back(heading);
  }
  return table;
}

// The cells in the order of ObjectTable(). The first use of retained() and
// parents() computes them for the whole graph.
void AddObject(ObjectAnalysis* analysis, NodeId node, Table* table,
               const std::optional<std::string>& first) {
  const ObjectGraph& graph = analysis->graph();
  std::vector<Cell> row;
  if (first.has_value()) row.emplace_back(*first);
  row.emplace_back(graph.size_bytes(node));
  row.emplace_back(analysis->retained(node));
  const std::string address = AddressText(graph, node);
  row.push_back(address.empty() ? Cell() : Cell(address));
  row.emplace_back(uint64_t{graph.degree(node)});
  row.emplace_back(uint64_t{analysis->parents().count(node)});
  const NodeDetails details = graph.details(node);
  row.push_back(details.length.has_value() ? Cell(*details.length) : Cell());
  row.emplace_back(KindText(graph, node));
  const std::string value = ValueText(graph, node);
  row.push_back(value.empty() ? Cell() : Cell(value));
  table->rows.push_back(std::move(row));
  table->places = table->rows.size();
}

std::string ShownNode(const ObjectGraph& graph, NodeId node) {
  return TerminalText(NodeText(graph, node));
}

std::string ObjectSentence(ObjectAnalysis* analysis, NodeId node) {
  const ObjectGraph& graph = analysis->graph();
  const std::string name = ShownNode(graph, node);
  if (!analysis->IsReached(node)) {
    return absl::StrCat(name, " takes ", HumanBytes(graph.size_bytes(node)),
                        ". Nothing keeps it alive.");
  }
  const uint64_t retained = analysis->retained(node);
  return absl::StrCat(name, " takes ", HumanBytes(graph.size_bytes(node)),
                      ". It keeps ", HumanBytes(retained), " alive, ",
                      Percent(analysis->ShareOf(retained)),
                      " of all that is alive.");
}

namespace {

// Sums over the objects of a type.
struct TypeSums {
  uint32_t type = 0;
  uint64_t objects = 0, bytes = 0, largest_bytes = 0;
};

// The largest first; types without objects are left out.
std::vector<TypeSums> SumsByType(const ObjectGraph& graph,
                                 const NodeFilter& where) {
  std::vector<TypeSums> sums(graph.types().size());
  for (NodeId node = 0; node < graph.nodes(); ++node) {
    if (!where.Matches(graph, node)) continue;
    const uint64_t size = graph.size_bytes(node);
    TypeSums& of = sums[graph.type(node)];
    of.type = graph.type(node);
    ++of.objects;
    of.bytes += size;
    of.largest_bytes = std::max(of.largest_bytes, size);
  }
  sums.erase(std::remove_if(sums.begin(), sums.end(),
                            [](const TypeSums& of) { return of.objects == 0; }),
             sums.end());
  std::sort(sums.begin(), sums.end(), [](const TypeSums& a, const TypeSums& b) {
    return std::tuple(b.bytes, b.objects, a.type) <
           std::tuple(a.bytes, a.objects, b.type);
  });
  return sums;
}

}  // namespace

// What a type retains is known for all of its objects only, so the column is
// empty if some are chosen.
Table TypeTable(ObjectAnalysis* analysis, const NodeFilter& where,
                uint64_t limit) {
  const ObjectGraph& graph = analysis->graph();
  const std::vector<TypeSums> sums = SumsByType(graph, where);
  const std::vector<uint64_t> retained = analysis->RetainedByType();
  uint64_t total = 0;
  for (const TypeSums& of : sums) total += of.bytes;
  Table table;
  table.headings = {{"objects", "objects"},
                    {"bytes", "size", CellLook::kBytes},
                    {"share", "share", CellLook::kShare},
                    {"largest_bytes", "largest", CellLook::kBytes},
                    {"retained_bytes", "retained", CellLook::kBytes},
                    {"type", "type", CellLook::kName}};
  for (const TypeSums& of : sums) {
    if (limit != 0 && table.rows.size() == limit) break;
    const double share =
        total == 0 ? 0
                   : static_cast<double>(of.bytes) / static_cast<double>(total);
    table.rows.push_back({of.objects, of.bytes, share, of.largest_bytes,
                          where.any() ? Cell() : Cell(retained[of.type]),
                          graph.type_name(of.type)});
  }
  table.places = table.rows.size();
  return table;
}

namespace {

// A terminal's line has room for such a path, and for a function behind it.
constexpr size_t kPathColumns = 44;
constexpr size_t kFunctionColumns = 24;

// Paths are relative to the folder that the program was started in.
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
  // At least one line, even for stack 0. The innermost frame is shown even if
  // it belongs to the import machinery.
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

// Empty cells keep the columns in place if the allocation is unknown.
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
