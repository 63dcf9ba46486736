#include "readers/top_table.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/report_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kTracingItself = "tracing itself";
constexpr absl::string_view kUnseen = "in no logged row";

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
    return {std::string(place.file)};
  }
  return {std::string(place.file), uint64_t{place.line},
          std::string(place.function)};
}

void AddRow(std::vector<Cell> cells, const RssTotals& totals, Cell share,
            Table* table) {
  for (Cell cell : {Cell(totals.growth_bytes), Cell(totals.shrinkage_bytes),
                    Cell(totals.net_bytes()), Cell(totals.rows), share}) {
    cells.push_back(std::move(cell));
  }
  table->rows.push_back(std::move(cells));
}

std::vector<Cell> TracingCells(size_t columns, const OwnCost& cost) {
  std::vector<Cell> cells(columns);
  cells[0] = std::string(kTracingItself);
  if (columns == 3 && cost.frames_made + cost.bound_made > 0) {
    cells[2] =
        absl::StrCat("made ", Grouped(cost.frames_made), " frame objects, ",
                     Grouped(cost.bound_made), " bound objects");
  }
  return cells;
}

}  // namespace

Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost) {
  const PlaceKind kind = profile.kind();
  Table table;
  table.headings = PlaceHeadings(kind);
  std::vector<Cell> own_place = TracingCells(table.headings.size(), cost);
  table.headings.insert(table.headings.end(),
                        {{"growth_bytes", "growth", CellLook::kBytes},
                         {"shrinkage_bytes", "shrinkage", CellLook::kBytes},
                         {"net_bytes", "net", CellLook::kBytes},
                         {"rows", "rows"},
                         {"share", "share", CellLook::kShare}});
  const double all = static_cast<double>(profile.total().growth_bytes);
  for (const ProfiledPlace& place : profile.Sorted(limit)) {
    const double growth = static_cast<double>(place.totals.growth_bytes);
    AddRow(PlaceCells(kind, place), place.totals, all > 0 ? growth / all : 0.0,
           &table);
  }
  if (profile.unseen_bytes() != 0) {
    std::vector<Cell> cells(own_place.size());
    cells[0] = std::string(kUnseen);
    RssTotals unseen;
    unseen.Add(profile.unseen_bytes());
    unseen.rows = 0;
    AddRow(std::move(cells), unseen, Cell(), &table);
  }
  RssTotals own;
  own.growth_bytes = cost.bytes;
  AddRow(std::move(own_place), own, Cell(), &table);
  return table;
}

}  // namespace pymemrun
