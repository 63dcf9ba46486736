#include "readers/across_runs/unshared/copy_ledger.h"

#include <algorithm>
#include <utility>

#include "readers/places/place_table.h"
#include "readers/replay/page_errors/sample_errors.h"

namespace pymemrun {
namespace {

// The only owner in `shared_`: the parent. A page that is not in the map is the
// process's own, or not resident.
constexpr uint32_t kParent = 1;
// Bounds what a file's header says: the pages in a group, one of them recorded.
constexpr uint32_t kMaxGroup = 1u << 20;
void Nothing(const PageMap::Run&) {}

}  // namespace

void CopiedPages::Add(const CopiedPages& other) {
  pages += other.pages;
  inferred_pages += other.inferred_pages;
  first_us = std::min(first_us, other.first_us);
  variance += other.variance;
  inference_variance += other.inference_variance;
}

// A damaged header must give neither a page size of 0 nor one that overflows
// sums.
void CopyLedger::OnHeader(const Header& header) {
  header_ = header;
  page_bytes_ = std::clamp<uint64_t>(header.page_bytes(), 4096, 65536);
}

bool CopyLedger::OnPages(const PageEntry* entries, size_t count) {
  if (!header_.forked()) return false;
  for (size_t i = 0; i < count; ++i) Take(entries[i]);
  return true;
}

// Numbers each pair of stack and cause, in `copied_`. When that is full, all
// other pairs share the two entries without a stack.
uint32_t CopyLedger::NumberOf(const Copier& copier) {
  const bool has_room = copied_.size() < kMaxCopies;
  const Copier known =
      has_room || numbers_.contains(copier) ? copier : Copier(0, copier.second);
  const auto [number, is_new] =
      numbers_.try_emplace(known, static_cast<uint32_t>(copied_.size()));
  if (is_new) copied_.push_back({known, {}});
  return number->second;
}

// Only the first write to a page that is still the parent's counts. Later
// faults on it find no owner in `shared_`.
void CopyLedger::Take(const PageEntry& entry) {
  const uint64_t end = entry.page + entry.pages;
  Copy copy = {entry.page, entry.pages,  entry.time_us,
               0,          entry.weight, entry.inferred};
  switch (entry.action) {
    case PAGE_CAME:
      copy.copier = NumberOf({entry.stack, entry.collecting});
      // Every known page ends a gap of inferred ones, even if it does not count
      // below.
      if (infers() && !entry.inferred) {
        inference_.AddKnown(entry.thread, copy.copier);
      }
      if (!knows_parent_ && early_.size() == kMaxCopies) {
        ++lost_;
        return;
      }
      if (knows_parent_ && shared_.At(entry.page).owner != kParent) return;
      if (infers() && entry.inferred) {
        inference_.AddInferred(entry.thread, copy.copier, copy.copier,
                               entry.weight);
      }
      // Whether the parent had this page is not known yet.
      if (!knows_parent_) return early_.push_back(copy);
      Remove(entry.page, 1);
      return Count(copy);
    case PAGES_POPULATED: {
      // Pages that came with a fault's own page were not there before.
      if (entry.inferred) return Remove(entry.page, entry.pages);
      copy.copier = NumberOf({entry.stack, entry.collecting});
      shared_.Remove(entry.page, end, [&](const PageMap::Run& run) {
        copy.page = run.begin;
        copy.pages = run.pages();
        Count(copy);
      });
      return;
    }
    case PAGES_MOVED:
      return shared_.Move(entry.page, end, entry.moved_to, entry.time_us,
                          Nothing);
    default:
      return Remove(entry.page, entry.pages);
  }
}

void CopyLedger::Remove(uint64_t page, uint64_t pages) {
  shared_.Remove(page, page + pages, Nothing);
}

void CopyLedger::OnResidency(const ResidencyView& seen) {
  if (!header_.forked() || header_.page_scan()) return;
  if (knows_parent_) {
    // Removes what left without a recorded call.
    uint64_t begin = 0;
    for (const ResidentRange& range : seen.ranges) {
      shared_.RemoveOlder(begin, range.page, seen.begin_us, Nothing);
      begin = range.page + range.pages;
    }
    return shared_.RemoveOlder(begin, kMaxPage, seen.begin_us, Nothing);
  }
  knows_parent_ = true;
  for (const ResidentRange& range : seen.ranges) {
    if (range.file_backed) continue;
    if (!shared_.Put({range.page, range.page + range.pages, 0, kParent})) break;
    parent_pages_ += range.pages;
  }
  // The first event of each page, by page.
  // Early pages that the first Residency lists may be copies or new. They leave
  // `shared_`, so that no later fault counts them. Pages that it does not list
  // have left already.
  std::stable_sort(
      early_.begin(), early_.end(),
      [](const Copy& a, const Copy& b) { return a.page < b.page; });
  const auto same = std::unique(
      early_.begin(), early_.end(),
      [](const Copy& a, const Copy& b) { return a.page == b.page; });
  early_.erase(std::remove_if(early_.begin(), same,
                              [this](const Copy& copy) {
                                return shared_.At(copy.page).owner != kParent;
                              }),
               early_.end());
  for (const Copy& copy : early_) Remove(copy.page, 1);
}

// OnResidency() counted each early page among the parent's. One that the parent
// did not have was new.
void CopyLedger::SettleEarly(
    absl::FunctionRef<bool(uint64_t page)> was_parents) {
  for (const Copy& copy : early_) {
    if (was_parents(copy.page)) {
      Count(copy);
    } else {
      --parent_pages_;
    }
  }
  early_.clear();
}

// Sampled pages are kept one by one, as their variance depends on neighbours.
// If there are too many, each is taken for independent: its square is the
// variance.
void CopyLedger::Count(const Copy& copy) {
  const uint64_t pages = copy.pages * copy.weight;
  const auto square = static_cast<double>(pages) * static_cast<double>(pages);
  const bool kept = sampled_.size() < kMaxCopies;
  copied_[copy.copier].second.Add({pages, copy.inferred ? pages : 0,
                                   copy.time_us,
                                   copy.weight > 1 && !kept ? square : 0});
  if (copy.weight > 1 && kept) sampled_.push_back(copy);
}

// Sums the variances by place. Copiers of one place cannot be confused with
// each other, so pairs within a place are left out.
void CopyLedger::SetVariances(const std::vector<uint32_t>& place_of,
                              std::vector<CopyPlace>* places) const {
  std::vector<Copy> sampled = sampled_;
  std::sort(sampled.begin(), sampled.end(),
            [](const Copy& a, const Copy& b) { return a.page < b.page; });
  SampleErrors errors(page_bytes_);
  for (const Copy& copy : sampled) {
    errors.Add(place_of[copy.copier], copy.page, copy.weight,
               static_cast<double>(copy.pages) * copy.weight);
  }
  for (size_t i = 0; i < places->size(); ++i) {
    (*places)[i].copied.variance += errors.VarianceOf(i);
  }
  inference_.ForEach(
      [&](uint32_t copier) { return copied_[copier].second.inferred_pages; },
      [&](uint32_t copier, uint32_t other, double variance) {
        const uint32_t place = place_of[copier];
        if (variance == 0 || place == place_of[other]) return;
        (*places)[place].copied.inference_variance += variance;
      });
}

// Copiers of the same place are joined. One without pages copied nothing that
// was the parent's.
std::vector<CopyPlace> CopyLedger::Places(GroupBy by) const {
  std::vector<CopyPlace> places;
  absl::flat_hash_map<CopyingPlace, uint32_t> numbers;
  std::vector<uint32_t> place_of(copied_.size(), ~0u);  // by number of copiers
  for (size_t i = 0; i < copied_.size(); ++i) {
    const auto& [copier, copied] = copied_[i];
    if (copied.pages == 0) continue;  // they were new
    const CopyingPlace place = {PlaceOf(by, index(), {.stack = copier.first}),
                                copier.second};
    const auto [number, is_new] =
        numbers.try_emplace(place, static_cast<uint32_t>(places.size()));
    if (is_new) places.push_back({place, {}});
    places[number->second].copied.Add(copied);
    place_of[i] = number->second;
  }
  SetVariances(place_of, &places);
  std::sort(
      places.begin(), places.end(),
      [](const CopyPlace& a, const CopyPlace& b) { return a.place < b.place; });
  return places;
}

ParentPages::ParentPages(const Header& parent,
                         const std::vector<CopyLedger*>& children)
    : group_pages_(std::clamp(parent.page_weight(), 1u, kMaxGroup)) {
  const uint64_t start_ns = parent.start_monotonic_ns();
  for (CopyLedger* const child : children) {
    const uint64_t child_ns = child->header().start_monotonic_ns();
    children_.emplace_back((child_ns - std::min(start_ns, child_ns)) / 1000,
                           child);
  }
  std::sort(children_.begin(), children_.end());
}

// Settles the children that started before `time_us`. The model still shows the
// moment before the event of that time.
void ParentPages::SettleUntil(uint64_t time_us) {
  for (; next_ < children_.size() && children_[next_].first < time_us;
       ++next_) {
    RangeCursor ranges(model().ranges());
    children_[next_].second->SettleEarly([&](uint64_t page) {
      // Only one page of each group was recorded; the child may have touched
      // another one.
      const uint64_t group = page - page % group_pages_;
      return model().pages().Covered(group, group + group_pages_) > 0 ||
             ranges.Find(page) != nullptr;
    });
  }
}

void ParentPages::Finish() {
  ResidentReplay::Finish();
  SettleUntil(kEnd);
}

}  // namespace pymemrun
