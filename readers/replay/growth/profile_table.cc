#include "readers/replay/growth/profile_table.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "readers/places/place_table.h"
#include "text/report_text.h"

namespace pymemrun {

// Takes the tables of the profile that fit the grouping. Together they have
// each row once.
void ProfileTable::Add(const CallProfile& profile, const RunIndex& index) {
  const auto counted = [this](const RssTotals& totals) {
    return of_ == Attribution::kObserved ? totals
                                         : RssTotals{0, 0, totals.rows};
  };
  AddOthers(counted(profile.other_threads()));
  const auto add = [&](const std::vector<RssTotals>& table, auto place_of) {
    for (size_t id = 0; id < table.size(); ++id) {
      if (table[id].rows > 0) Add(place_of(id), counted(table[id]));
    }
  };
  const auto place_of_site = [&](size_t id) {
    return PlaceOf(by_, index.Resolve(id));
  };
  const auto place_of_stack = [&](size_t id) {
    return PlaceOf(by_, index.ResolveStack(id));
  };
  switch (by_) {
    case GroupBy::kThread:
      return add(profile.threads(), [&](size_t id) {
        return NamedPlace(index.LatestThreadLabel(id));
      });
    case GroupBy::kTask:
      for (const auto& [task, totals] : profile.tasks()) {
        Add(NamedPlace(profile.TaskLabel(task)), counted(totals));
      }
      return;
    case GroupBy::kLine:
      add(profile.own_lines(), place_of_stack);
      return add(profile.other_sites(), place_of_site);
    default:
      add(profile.sites(), place_of_site);
      add(profile.callers(), place_of_stack);
  }
}

void ProfileTable::AddOthers(const RssTotals& totals) {
  total_.Add(totals);
  other_threads_.Add(totals);
}

void ProfileTable::AddNative(const RssTotals& totals) {
  total_.Add(totals);
  native_threads_.Add(totals);
}

// Names are copied: the index that they are from lives only as long as its file
// is read.
void ProfileTable::Add(Place place, const RssTotals& totals) {
  total_.Add(totals);
  place.file = names_.Keep(place.file);
  place.function = names_.Keep(place.function);
  RowOfPlace(places_.NumberOf(place), places_.places(), &rows_)
      .totals.Add(totals);
}

std::vector<ProfiledPlace> ProfileTable::Sorted(uint64_t limit) const {
  std::vector<ProfiledPlace> places = rows_;
  KeepTop(
      limit,
      [](const ProfiledPlace& of) {
        return std::pair(of.totals.growth_bytes, of.totals.shrinkage_bytes);
      },
      &places);
  return places;
}

namespace {

constexpr absl::string_view kTracing = "tracing itself";

// A line of a file is printed even if it is 0.
std::vector<Cell> CellsOf(GroupBy by, const Place& place) {
  std::vector<Cell> cells = PlaceCells(by, place);
  if (HasLines(by) && !place.file.empty()) cells[1] = uint64_t{place.line};
  return cells;
}

TableColumns<ProfiledPlace> ColumnsOf(uint64_t all_bytes) {
  TableColumns<ProfiledPlace> columns;
  columns.AddBytes("growth_bytes", "growth",
                   [](const auto& row) { return row.totals.growth_bytes; });
  columns.AddBytes("shrinkage_bytes", "shrinkage",
                   [](const auto& row) { return row.totals.shrinkage_bytes; });
  columns.AddBytes("net_bytes", "net",
                   [](const auto& row) { return row.totals.net_bytes(); });
  columns.Add("rows", "rows", [](const auto& row) { return row.totals.rows; });
  columns.AddShare(static_cast<double>(all_bytes), [](const auto& row) {
    return row.is_part ? std::optional<double>(row.totals.growth_bytes)
                       : std::nullopt;
  });
  return columns;
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

// Tracing's own cost is no part of the growth, so it has no share.
Table TopTable(const ProfileTable& profile, uint64_t limit,
               const OwnCost& cost) {
  const GroupBy by = profile.by();
  PlaceTableMaker<ProfiledPlace> maker(by,
                                       ColumnsOf(profile.total().growth_bytes));
  for (const ProfiledPlace& row : profile.Sorted(limit)) {
    maker.Add(CellsOf(by, row.place), row);
  }
  maker.EndPlaces();
  maker.AddRest(kOtherThreads, {{}, profile.other_threads()});
  maker.AddRest(kNativeThreads, {{}, profile.native_threads()});
  if (profile.unseen_bytes() != 0) {
    ProfiledPlace unseen = {.is_part = false};
    unseen.totals.Add(profile.unseen_bytes());
    unseen.totals.rows = 0;
    maker.AddNamed(
        profile.of() == Attribution::kObserved ? kInNoRow : kUnattributed,
        unseen);
  }
  if (!cost.of_part) {
    maker.Add(TracingCells(by, cost),
              {{}, {.growth_bytes = cost.bytes}, false});
  }
  return maker.Take();
}

}  // namespace pymemrun
