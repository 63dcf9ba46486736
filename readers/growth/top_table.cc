#include "readers/growth/top_table.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "text/report_text.h"

namespace pymemrun {
namespace {

constexpr absl::string_view kTracing = "tracing itself";

// A line of a file is told also where it is 0.
std::vector<Cell> CellsOf(GroupBy by, const ProfiledPlace& place) {
  std::vector<Cell> cells = PlaceCells(by, place);
  if (HasLines(by) && !place.file.empty()) cells[1] = uint64_t{place.line};
  return cells;
}

void AddRow(std::vector<Cell> cells, const RssTotals& totals, Cell share,
            Table* table) {
  for (Cell cell : {Cell(totals.growth_bytes), Cell(totals.shrinkage_bytes),
                    Cell(totals.net_bytes()), Cell(totals.rows), share}) {
    cells.push_back(std::move(cell));
  }
  table->rows.push_back(std::move(cells));
}

std::vector<Cell> TracingCells(GroupBy by, const OwnCost& cost) {
  std::vector<Cell> cells = NameCells(by, kTracing);
  if (HasLines(by) && cost.frames_made + cost.bound_made > 0) {
    cells[2] =
        absl::StrCat("made ", Grouped(cost.frames_made), " frame objects, ",
                     Grouped(cost.bound_made), " bound objects");
  }
  return cells;
}

}  // namespace

Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost) {
  const GroupBy by = profile.by();
  Table table;
  table.headings = PlaceHeadings(by);
  table.headings.insert(table.headings.end(),
                        {{"growth_bytes", "growth", CellLook::kBytes},
                         {"shrinkage_bytes", "shrinkage", CellLook::kBytes},
                         {"net_bytes", "net", CellLook::kBytes},
                         {"rows", "rows"},
                         {"share", "share", CellLook::kShare}});
  const double all = static_cast<double>(profile.total().growth_bytes);
  const auto share_of = [all](const RssTotals& totals) {
    return all > 0 ? static_cast<double>(totals.growth_bytes) / all : 0.0;
  };
  for (const ProfiledPlace& place : profile.Sorted(limit)) {
    AddRow(CellsOf(by, place), place.totals, share_of(place.totals), &table);
    ++table.places;
  }
  const auto add_sum = [&](absl::string_view name, const RssTotals& totals) {
    if (totals.rows + totals.growth_bytes + totals.shrinkage_bytes == 0) return;
    AddRow(NameCells(by, name), totals, share_of(totals), &table);
  };
  add_sum(kOtherThreads, profile.other_threads());
  add_sum(kNativeThreads, profile.native_threads());
  if (profile.unseen_bytes() != 0) {
    RssTotals unseen;
    unseen.Add(profile.unseen_bytes());
    unseen.rows = 0;
    AddRow(
        NameCells(by, profile.of() == Attribution::kObserved ? kInNoRow
                                                             : kUnattributed),
        unseen, Cell(), &table);
  }
  RssTotals own;
  own.growth_bytes = cost.bytes;
  AddRow(TracingCells(by, cost), own, Cell(), &table);
  return table;
}

}  // namespace pymemrun
