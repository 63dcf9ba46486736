#include "readers/replay/growth/profile_table.h"

#include <utility>

#include "readers/places/place_rows.h"

namespace pymemrun {

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

}  // namespace pymemrun
