#include "readers/top_table.h"

#include <string>
#include <utility>
#include <vector>

namespace pymemrun {
namespace {

constexpr absl::string_view kTracingItself = "tracing itself";

std::vector<Table::Heading> PlaceHeadings(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::kFile:
      return {{"file", "file", CellLook::kName}};
    case PlaceKind::kThread:
      return {{"thread", "thread", CellLook::kName}};
    default:
      return {{"file", "file", CellLook::kName},
              {"line", kind == PlaceKind::kLine ? "line" : "first line"},
              {"function", "Python function", CellLook::kName}};
  }
}

std::vector<Cell> PlaceCells(PlaceKind kind, const ProfiledPlace& place) {
  if (kind == PlaceKind::kFile || kind == PlaceKind::kThread) {
    return {place.file};
  }
  return {place.file, uint64_t{place.line}, place.function};
}

void AddRow(std::vector<Cell> cells, const RssTotals& totals, Cell share,
            Table* table) {
  for (Cell cell : {Cell(totals.growth_bytes), Cell(totals.shrinkage_bytes),
                    Cell(totals.net_bytes()), Cell(totals.rows), share}) {
    cells.push_back(std::move(cell));
  }
  table->rows.push_back(std::move(cells));
}

}  // namespace

Table TopTable(const ProfileTable& profile, uint64_t limit,
               uint64_t own_bytes) {
  const PlaceKind kind = profile.kind();
  Table table;
  table.headings = PlaceHeadings(kind);
  std::vector<Cell> own_place(table.headings.size());
  own_place[0] = std::string(kTracingItself);
  table.headings.insert(table.headings.end(),
                        {{"growth_bytes", "growth", CellLook::kBytes},
                         {"shrinkage_bytes", "shrinkage", CellLook::kBytes},
                         {"net_bytes", "net", CellLook::kBytes},
                         {"rows", "rows"},
                         {"share", "share", CellLook::kShare}});
  const double all = static_cast<double>(profile.total().growth_bytes);
  for (const ProfiledPlace& place : profile.Sorted()) {
    if (limit > 0 && table.rows.size() >= limit) break;
    const double growth = static_cast<double>(place.totals.growth_bytes);
    AddRow(PlaceCells(kind, place), place.totals, all > 0 ? growth / all : 0.0,
           &table);
  }
  RssTotals own;
  own.growth_bytes = own_bytes;
  AddRow(std::move(own_place), own, Cell(), &table);
  return table;
}

}  // namespace pymemrun
