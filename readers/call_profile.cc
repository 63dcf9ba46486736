#include "readers/call_profile.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/hash/hash.h"

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

size_t ProfileTable::Hash::operator()(uint32_t index) const {
  const ProfiledPlace& place = (*places)[index];
  return absl::HashOf(place.file, place.line, place.function);
}

bool ProfileTable::Same::operator()(uint32_t a, uint32_t b) const {
  const ProfiledPlace& left = (*places)[a];
  const ProfiledPlace& right = (*places)[b];
  return left.line == right.line && left.file == right.file &&
         left.function == right.function;
}

void ProfileTable::Add(const CallProfile& profile, const RunIndex& index) {
  const bool by_thread = kind_ == PlaceKind::kThread;
  const auto& table = by_thread ? profile.threads() : profile.sites();
  for (size_t id = 0; id < table.size(); ++id) {
    if (table[id].rows == 0) continue;
    total_.Add(table[id]);
    ProfiledPlace place;
    if (by_thread) {
      place.file = names_.Keep(index.ThreadLabel(id));
    } else {
      const Place where = index.Resolve(id);
      place.file = names_.Keep(where.file);
      if (kind_ == PlaceKind::kLine) place.line = where.line;
      if (kind_ == PlaceKind::kFunction) place.line = where.first_line;
      if (kind_ != PlaceKind::kFile) {
        place.function = names_.Keep(where.code_name);
      }
    }
    // The new place stays only if it is none of those known.
    places_.push_back(place);
    const auto [known, is_new] =
        known_.insert(static_cast<uint32_t>(places_.size() - 1));
    if (!is_new) places_.pop_back();
    places_[*known].totals.Add(table[id]);
  }
}

std::vector<ProfiledPlace> ProfileTable::Sorted(uint64_t limit) const {
  std::vector<uint32_t> order(places_.size());
  std::iota(order.begin(), order.end(), 0);
  const size_t count =
      limit == 0 ? order.size() : std::min<uint64_t>(limit, order.size());
  std::partial_sort(
      order.begin(), order.begin() + count, order.end(),
      [this](uint32_t left, uint32_t right) {
        const ProfiledPlace& a = places_[left];
        const ProfiledPlace& b = places_[right];
        return std::tie(b.totals.growth_bytes, b.totals.shrinkage_bytes, a.file,
                        a.line, a.function) <
               std::tie(a.totals.growth_bytes, a.totals.shrinkage_bytes, b.file,
                        b.line, b.function);
      });
  std::vector<ProfiledPlace> places;
  for (size_t i = 0; i < count; ++i) places.push_back(places_[order[i]]);
  return places;
}

}  // namespace pymemrun
