#include "readers/commands/objects/object_table.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/objects/graph/object_text.h"
#include "text/columns.h"
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

// Of the objects of a type.
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

}  // namespace pymemrun
