#include "readers/growth/profile_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>

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
  const uint32_t number = places_.NumberOf(place);
  if (number >= totals_.size()) totals_.resize(number + 1);
  totals_[number].Add(totals);
}

std::vector<ProfiledPlace> ProfileTable::Sorted(uint64_t limit) const {
  std::vector<uint32_t> order(totals_.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t count =
      limit == 0 ? order.size() : std::min<uint64_t>(limit, order.size());
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [this](uint32_t left, uint32_t right) {
                      const RssTotals &a = totals_[left], &b = totals_[right];
                      return std::tie(b.growth_bytes, b.shrinkage_bytes,
                                      places_.places()[left]) <
                             std::tie(a.growth_bytes, a.shrinkage_bytes,
                                      places_.places()[right]);
                    });
  std::vector<ProfiledPlace> places;
  for (size_t i = 0; i < count; ++i) {
    places.push_back({places_.places()[order[i]], totals_[order[i]]});
  }
  return places;
}

}  // namespace pymemrun
