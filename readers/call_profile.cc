#include "readers/call_profile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pymemrun {

bool ParsePlaceKind(absl::string_view name, PlaceKind* kind) {
  static constexpr absl::string_view kNames[] = {"line", "function", "file",
                                                 "thread"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return false;
  *kind = static_cast<PlaceKind>(found - std::begin(kNames));
  return true;
}

void RssTotals::Add(int64_t change_bytes) {
  ++rows;
  if (change_bytes > 0) {
    growth_bytes += static_cast<uint64_t>(change_bytes);
  } else {
    shrinkage_bytes += 0 - static_cast<uint64_t>(change_bytes);
  }
}

void RssTotals::Add(const RssTotals& other) {
  growth_bytes += other.growth_bytes;
  shrinkage_bytes += other.shrinkage_bytes;
  rows += other.rows;
}

RssTotals* CallProfile::Slot(uint32_t id, std::vector<RssTotals>* table) {
  if (id > kMaxIds) id = 0;
  if (id >= table->size()) table->resize(id + id / 2 + 16);
  return &(*table)[id];
}

void CallProfile::Add(const Row& row) {
  if (row.context) return;
  int64_t change = row.drss_bytes;
  if (row.number == 0) {
    change = first_rss_bytes_ == 0
                 ? 0
                 : static_cast<int64_t>(row.rss_bytes - first_rss_bytes_);
  }
  Slot(row.site, &sites_)->Add(change);
  Slot(row.thread, &threads_)->Add(change);
}

void ProfileTable::AddPlace(ProfiledPlace place) {
  total_.Add(place.totals);
  const std::string key =
      absl::StrCat(place.file, absl::string_view("\0", 1), place.line,
                   absl::string_view("\0", 1), place.function);
  const auto [found, is_new] = by_key_.try_emplace(key, places_.size());
  if (is_new) {
    places_.push_back(std::move(place));
  } else {
    places_[found->second].totals.Add(place.totals);
  }
}

void ProfileTable::Add(const CallProfile& profile, const RunIndex& index) {
  const bool by_thread = kind_ == PlaceKind::kThread;
  const auto& table = by_thread ? profile.threads() : profile.sites();
  for (size_t id = 0; id < table.size(); ++id) {
    if (table[id].rows == 0) continue;
    ProfiledPlace place;
    place.totals = table[id];
    if (by_thread) {
      place.file = std::string(index.ThreadLabel(id));
    } else {
      const Place where = index.Resolve(id);
      place.file = std::string(where.file);
      if (kind_ == PlaceKind::kLine) place.line = where.line;
      if (kind_ == PlaceKind::kFunction) place.line = where.first_line;
      if (kind_ != PlaceKind::kFile) {
        place.function = std::string(where.code_name);
      }
    }
    AddPlace(std::move(place));
  }
}

std::vector<ProfiledPlace> ProfileTable::Sorted() const {
  std::vector<ProfiledPlace> places = places_;
  std::sort(places.begin(), places.end(),
            [](const ProfiledPlace& a, const ProfiledPlace& b) {
              return std::tie(b.totals.growth_bytes, b.totals.shrinkage_bytes,
                              a.file, a.line, a.function) <
                     std::tie(a.totals.growth_bytes, a.totals.shrinkage_bytes,
                              b.file, b.line, b.function);
            });
  return places;
}

}  // namespace pymemrun
