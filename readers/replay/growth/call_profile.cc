#include "readers/replay/growth/call_profile.h"

#include <algorithm>

namespace pymemrun {

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

// Tables grow by half, so that adding ids one after the other takes linear
// time.
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

// Context rows only tell where the thread was: they are kept as the row before
// the next one.
void CallProfile::Add(const Row& row, const RunIndex& index) {
  if (first_rss_bytes_ == 0 && !any_row_) {
    // RSS before an event is known, except before the first one.
    first_rss_bytes_ = row.rss_bytes;
    if (row.number != 0) first_rss_bytes_ -= row.drss_bytes;
    base_rss_bytes_ = first_rss_bytes_;
  }
  const bool counts = !range_.has_value() || IsInRange(row);
  if (!row.context) {
    const int64_t change = ChangeOf(row);
    if (!counts) {
      // It only serves to measure the next row.
    } else if (filter_.has_value() && !filter_->Keeps(row.thread)) {
      other_threads_.Add(change);
    } else {
      Charge(row, change, index);
    }
    base_rss_bytes_ = row.rss_bytes;
  }
  last_ = row;
  any_row_ = true;
}

// Also keeps RSS at the ends of the range.
bool CallProfile::IsInRange(const Row& row) {
  if (range_->BeginsBetween(row.time_us, TimeRange::kMostMicros)) {
    first_rss_bytes_ = row.rss_bytes;
  }
  if (any_row_ && range_->EndsBetween(last_.time_us, row.time_us)) {
    end_rss_bytes_ = last_.rss_bytes;
  } else if (!any_row_ && range_->EndsBetween(0, row.time_us)) {
    end_rss_bytes_ = first_rss_bytes_;
  }
  return range_->HasMicros(row.time_us);
}

void CallProfile::Charge(const Row& row, int64_t change,
                         const RunIndex& index) {
  // A CALL's change was made by its caller. If the event before is not the
  // caller's own (IsOfCaller()), only the caller's stack says where.
  const uint32_t caller =
      row.what == CALL && change != 0 && !IsOfCaller(row, change)
          ? index.ParentStack(row.stack)
          : 0;
  if (caller == 0) {
    ChargeSite(row, change, index);
  } else {
    ChargeCaller(row, caller, change, index);
  }
  Slot(row.thread, &threads_)->Add(change);
  if (steps_ == nullptr) return;
  const uint32_t task =
      steps_->TaskAt(index.FirstThread(row.thread), row.time_us);
  tasks_[task].Add(change);
}

// Charges the row's site, or the site of the row before, if that is the caller.
void CallProfile::ChargeSite(const Row& row, int64_t change,
                             const RunIndex& index) {
  const bool of_caller = IsOfCaller(row, change);
  const uint32_t site = SiteOf(row, of_caller);
  const uint32_t own =
      index.OwnStack(of_caller ? index.ParentStack(row.stack) : row.stack);
  Slot(site, &sites_)->Add(change);
  (own != 0 ? Slot(own, &own_lines_) : Slot(site, &other_sites_))->Add(change);
}

// The called function has not run yet.
void CallProfile::ChargeCaller(const Row& row, uint32_t caller, int64_t change,
                               const RunIndex& index) {
  const uint32_t own = index.OwnStack(caller);
  --*Slot(row.site, &moved_rows_);
  Slot(caller, &callers_)->Add(change);
  Slot(own != 0 ? own : caller, &own_lines_)->Add(change);
}

absl::string_view CallProfile::TaskLabel(uint32_t task) const {
  return task == 0 || steps_ == nullptr ? kNoTask : steps_->names().Label(task);
}

// What RSS changed by during the pause is added to the base, so that the next
// row does not get it.
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

bool CallProfile::IsOfCaller(const Row& row, int64_t change_bytes) const {
  return row.what == CALL && change_bytes != 0 && any_row_ &&
         last_.what != RETURN && last_.thread == row.thread &&
         last_.number + 1 == row.number;
}

uint32_t CallProfile::SiteOf(const Row& row, bool of_caller) {
  if (!of_caller) return row.site;
  --*Slot(row.site, &moved_rows_);
  ++*Slot(last_.site, &moved_rows_);
  return last_.site;
}

// Rows charged to this site, corrected by those that moved to or from another
// one. The difference may be negative, and wraps.
uint64_t CallProfile::RowsSeenAt(uint32_t site) const {
  if (site >= sites_.size() && site >= moved_rows_.size()) return 0;
  const uint64_t rows = site < sites_.size() ? sites_[site].rows : 0;
  return rows - (site < moved_rows_.size() ? moved_rows_[site] : 0);
}

// The change of RSS minus all that is charged. Unsigned sums wrap to the right
// signed result.
int64_t CallProfile::UnseenBytes(uint64_t last_rss_bytes) const {
  if (!any_row_) return 0;
  RssTotals charged = other_threads_;
  for (const RssTotals& thread : threads_) charged.Add(thread);
  uint64_t last = last_rss_bytes == 0 ? last_.rss_bytes : last_rss_bytes;
  if (end_rss_bytes_ != 0) last = end_rss_bytes_;
  return static_cast<int64_t>(last - first_rss_bytes_ - charged.growth_bytes +
                              charged.shrinkage_bytes);
}

}  // namespace pymemrun
