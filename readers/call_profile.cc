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

template <typename Total>
Total* CallProfile::Slot(uint32_t id, std::vector<Total>* table) {
  if (id > kMaxIds) id = 0;
  if (id >= table->size()) table->resize(id + id / 2 + 16);
  return &(*table)[id];
}

void CallProfile::SetHeader(const Header& header) {
  base_rss_bytes_ = first_rss_bytes_ = header.first_rss_bytes();
  since_logged_ = header.filters().drss_since_logged();
}

void CallProfile::Add(const Row& row) {
  if (first_rss_bytes_ == 0 && !any_row_) {
    // What RSS was before is known of any event but the first.
    first_rss_bytes_ = row.rss_bytes;
    if (row.number != 0) first_rss_bytes_ -= row.drss_bytes;
    base_rss_bytes_ = first_rss_bytes_;
  }
  if (!row.context) {
    const int64_t change = ChangeOf(row);
    Slot(SiteOf(row, change), &sites_)->Add(change);
    Slot(row.thread, &threads_)->Add(change);
    base_rss_bytes_ = row.rss_bytes;
  }
  last_ = row;
  any_row_ = true;
}

void CallProfile::Add(const Pause& pause) {
  if (pause.next_number() == 0) {
    base_rss_bytes_ = first_rss_bytes_ = pause.to_rss_bytes();
  } else if (first_rss_bytes_ != 0) {
    base_rss_bytes_ += pause.to_rss_bytes() - pause.from_rss_bytes();
  }
}

int64_t CallProfile::ChangeOf(const Row& row) const {
  if (row.number != 0 && !since_logged_) return row.drss_bytes;
  return static_cast<int64_t>(row.rss_bytes - base_rss_bytes_);
}

uint32_t CallProfile::SiteOf(const Row& row, int64_t change_bytes) {
  if (row.what != CALL || change_bytes == 0 || !any_row_ ||
      last_.what == RETURN || last_.thread != row.thread ||
      last_.number + 1 != row.number) {
    return row.site;
  }
  --*Slot(row.site, &moved_rows_);
  ++*Slot(last_.site, &moved_rows_);
  return last_.site;
}

uint64_t CallProfile::RowsSeenAt(uint32_t site) const {
  if (site >= sites_.size() && site >= moved_rows_.size()) return 0;
  const uint64_t rows = site < sites_.size() ? sites_[site].rows : 0;
  return rows - (site < moved_rows_.size() ? moved_rows_[site] : 0);
}

int64_t CallProfile::UnseenBytes(uint64_t last_rss_bytes) const {
  if (!any_row_) return 0;
  RssTotals charged;
  for (const RssTotals& thread : threads_) charged.Add(thread);
  const uint64_t last = last_rss_bytes == 0 ? last_.rss_bytes : last_rss_bytes;
  return static_cast<int64_t>(last - first_rss_bytes_ - charged.growth_bytes +
                              charged.shrinkage_bytes);
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
