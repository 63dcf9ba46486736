#include "readers/resident_model.h"

#include <algorithm>

namespace pymemrun {
namespace {

constexpr uint64_t kHugeBytes = 2 << 20;
constexpr uint64_t kAroundBytes = 64 << 10;
// A page stands for no more, whatever the file says: sums stay far below 64
// bits.
constexpr uint32_t kMaxWeight = 1 << 20;

bool IsPageSize(uint64_t bytes) {
  return bytes >= 4096 && bytes <= kAroundBytes && (bytes & (bytes - 1)) == 0;
}

// Pages of an aligned block of this size come together.
uint64_t BlockOf(const ResidentRange& range, uint64_t page_bytes) {
  if (range.huge) return kHugeBytes / page_bytes;
  return range.file_backed ? kAroundBytes / page_bytes : 1;
}

// The most that a file's cache holds, and the kernel maps, in one piece.
uint64_t PieceOf(const ResidentRange& range, uint64_t page_bytes) {
  return range.huge || range.file_backed ? kHugeBytes / page_bytes : 1;
}

}  // namespace

ResidentModel::ResidentModel(const Limits& limits)
    : limits_(limits), pages_(limits.blocks) {}

void ResidentModel::SetHeader(const Header& header) {
  if (IsPageSize(header.page_bytes())) page_bytes_ = header.page_bytes();
  sampled_ = header.page_weight() > 1;
}

uint64_t ResidentModel::RssBytes() const {
  if (rss_bytes_ == 0) return OwnedBytes();
  const uint64_t since = (owned_pages_ - owned_at_rss_) * page_bytes_;
  const auto rss = static_cast<int64_t>(rss_bytes_ + since);
  return rss < 0 ? 0 : std::min(static_cast<uint64_t>(rss), most_rss_bytes_);
}

uint64_t ResidentModel::UnlistedBeforeBytes() const {
  const uint64_t rss = RssBytes(), owned = OwnedBytes();
  return any_residency_ || rss < owned ? 0 : rss - owned;
}

absl::flat_hash_map<uint32_t, uint64_t> ResidentModel::Unowned() const {
  absl::flat_hash_map<uint32_t, uint64_t> unowned = unowned_;
  RangeCursor ranges(ranges_);
  // Those that came while the kernel was asked have owners by now.
  pages_.ForEach([&](uint64_t page, const PageMap::Page& there) {
    const ResidentRange* range = ranges.Find(page);
    if (range == nullptr || there.came_us < ranges_us_) return;
    const auto found = unowned.find(range->mapping);
    if (found != unowned.end() && found->second > 0) --found->second;
  });
  return unowned;
}

void ResidentModel::SetRss(uint64_t rss_bytes, uint64_t time_us) {
  rss_bytes_ = rss_bytes;
  rss_us_ = time_us;
  owned_at_rss_ = owned_pages_;
}

uint32_t ResidentModel::OwnerId(const PageOwner& owner) {
  if (last_id_ != 0 && owner == last_owner_) return last_id_;
  const auto found = ids_.find(owner);
  uint32_t id = 0;
  if (found != ids_.end()) {
    id = found->second;
  } else if (owners_.size() <= limits_.owners) {
    id = static_cast<uint32_t>(owners_.size());
    owners_.push_back(owner);
    counts_.push_back(0);
    ids_.emplace(owner, id);
  }
  last_owner_ = owner;
  return last_id_ = id;
}

uint32_t ResidentModel::InferredId(uint32_t id) {
  PageOwner owner = owners_[id];
  if (owner.before_tracing()) return id;
  owner.inferred = true;
  owner.weight = 1;
  return OwnerId(owner);
}

// The page stands for itself alone from here on.
void ResidentModel::CountEach(PageMap::Page* there) {
  PageOwner owner = owners_[there->owner];
  owner.weight = 1;
  const uint32_t id = OwnerId(owner);
  if (id == 0) return;
  Drop(there->owner);
  there->owner = id;
  ++counts_[id];
  ++owned_pages_;
}

// One page fewer of `owner`'s, which may be nobody.
void ResidentModel::Drop(uint32_t owner) {
  if (owner == 0) return;
  --counts_[owner];
  owned_pages_ -= owners_[owner].weight;
}

// The page is `owner`'s now, whoever's it was; false: there is no room for it.
bool ResidentModel::Put(uint64_t page, uint32_t owner, uint64_t time_us) {
  const uint32_t old = pages_.Get(page).owner;
  if (owner == 0 || !pages_.Set(page, {owner, time_us})) return false;
  Drop(old);
  ++counts_[owner];
  owned_pages_ += owners_[owner].weight;
  return true;
}

void ResidentModel::Add(const PageEntry& entry) {
  switch (entry.action) {
    case PAGE_CAME:
      return Come(entry);
    case PAGES_POPULATED:
      return Populate(entry);
    case PAGES_MOVED:
      return Move(entry);
    default:
      return Remove(entry.page, entry.pages);
  }
}

// Whoever brought the pages of an entry.
uint32_t ResidentModel::ToucherId(const PageEntry& entry) {
  PageOwner owner;
  owner.stack = entry.stack;
  owner.thread = entry.thread;
  owner.code_mapping = entry.code_mapping;
  owner.mapping = entry.mapping;
  owner.weight = std::min(entry.weight, kMaxWeight);
  owner.inferred = entry.inferred;
  return OwnerId(owner);
}

void ResidentModel::Come(const PageEntry& entry) {
  const PageMap::Page there = pages_.Get(entry.page);
  if (there.owner != 0 && fork_us_ != 0 && there.came_us <= fork_us_) {
    pages_.Set(entry.page,
               {there.owner, std::max(entry.time_us, fork_us_ + 1)});
    return;
  }
  sampled_ |= entry.weight > 1;
  const uint32_t id = ToucherId(entry);
  if (!Put(entry.page, id, entry.time_us)) ++not_kept_;
}

void ResidentModel::Populate(const PageEntry& entry) {
  sampled_ |= entry.weight > 1;
  OwnFree(entry.page, entry.page + entry.pages, ToucherId(entry),
          entry.time_us);
}

void ResidentModel::Add(const LateArrival& late) {
  const PageMap::Page with = pages_.Get(late.with);
  if (with.owner == 0) return;
  const uint64_t owned_pages = owned_pages_;
  OwnFree(late.begin, late.end, InferredId(with.owner), with.came_us);
  // They are in the RSS that was read since.
  if (with.came_us <= rss_us_) owned_at_rss_ += owned_pages_ - owned_pages;
}

void ResidentModel::Remove(uint64_t page, uint64_t pages) {
  pages_.ForRange(page, page + pages, [this](uint64_t, PageMap::Page* there) {
    Drop(there->owner);
    there->owner = 0;
  });
}

void ResidentModel::Move(const PageEntry& entry) {
  std::vector<Owned> moved;
  pages_.ForRange(
      entry.page, entry.page + entry.pages,
      [&](uint64_t page, PageMap::Page* there) {
        moved.push_back({page - entry.page + entry.moved_to, there->owner, 0});
        Drop(there->owner);
        there->owner = 0;
      });
  Remove(entry.moved_to, entry.pages);
  for (const Owned& page : moved) {
    if (!Put(page.page, page.owner, entry.time_us)) ++not_kept_;
  }
}

void ResidentModel::Add(const ResidencyView& seen) {
  const uint64_t owned_pages = owned_pages_;
  changed_since_rss_ = 0;
  RemoveUnseen(seen);
  FindOwners(seen);
  any_residency_ = true;
  ranges_.assign(seen.ranges.begin(), seen.ranges.end());
  ranges_us_ = seen.begin_us;
  // Of other pages more is known than before of what RSS was all along.
  owned_at_rss_ += owned_pages_ - owned_pages - changed_since_rss_;
}

void ResidentModel::RemoveUnseen(const ResidencyView& seen) {
  const auto end = seen.ranges.end();
  auto range = seen.ranges.begin();
  pages_.ForRange(0, kMaxPage, [&](uint64_t page, PageMap::Page* there) {
    while (range != end && range->page + range->pages <= page) ++range;
    if (there->came_us >= seen.begin_us) return;
    if (range != end && range->page <= page) return;
    if (there->came_us > rss_us_) {
      changed_since_rss_ -= owners_[there->owner].weight;
    }
    Drop(there->owner);
    there->owner = 0;
  });
}

void ResidentModel::FindOwners(const ResidencyView& seen) {
  unowned_.clear();
  for (const ResidentRange& range : seen.ranges) {
    // They came before the kernel was asked.
    FindOwners(range, std::max<uint64_t>(seen.begin_us, 1) - 1);
  }
}

void ResidentModel::FindOwners(const ResidentRange& range, uint64_t time_us) {
  Gap gap;
  gap.mapping = range.mapping;
  gap.time_us = time_us;
  if (any_residency_) {
    gap.block = BlockOf(range, page_bytes_);
    gap.piece = PieceOf(range, page_bytes_);
  }
  const uint64_t end = range.page + range.pages;
  // Also the pages around it that lie in the same blocks.
  std::vector<Owned> known;
  pages_.ForRange(
      range.page / gap.block * gap.block,
      (end + gap.block - 1) / gap.block * gap.block,
      [&](uint64_t page, PageMap::Page* there) {
        const bool many = owners_[there->owner].weight > 1;
        if (many && range.huge && page >= range.page && page < end) {
          CountEach(there);
        }
        // A file's faults are all there, those of memory that looks
        // like one are not: beside these nothing is inferred.
        const bool tells = !many || range.huge;
        known.push_back({page, tells ? there->owner : 0, there->came_us});
      });
  gap.begin = range.page;
  for (const Owned& next : known) {
    gap.end = std::min(next.page, end);
    gap.right = next;
    Fill(gap);
    gap.left = next;
    gap.begin = std::max(gap.begin, next.page + 1);
  }
  gap.end = end;
  gap.right = {};
  Fill(gap);
}

ResidentModel::Middle ResidentModel::Without(const Gap& gap, uint64_t block,
                                             Middle middle) {
  if (block == 1) return middle;
  Middle rest = middle;
  if (gap.left.owner != 0) {
    rest.begin = std::clamp((gap.left.page / block + 1) * block, middle.begin,
                            middle.end);
  }
  if (gap.right.owner != 0) {
    rest.end =
        std::clamp(gap.right.page / block * block, middle.begin, middle.end);
  }
  if (rest.begin > rest.end) {  // both are near: half of it each
    rest.begin = rest.end = std::clamp((gap.left.page + gap.right.page) / 2 + 1,
                                       middle.begin, middle.end);
  }
  return rest;
}

// Gives the pages between two known ones, or an end of the range, their owners.
void ResidentModel::Fill(const Gap& gap) {
  if (gap.begin >= gap.end) return;
  Middle rest = Without(gap, gap.block, {gap.begin, gap.end});
  if (gap.piece > gap.block) {
    Gap inside = gap;
    if (gap.left.page + 1 != gap.begin) inside.left = {};
    if (gap.right.page != gap.end) inside.right = {};
    rest = Without(inside, gap.piece, rest);
  }
  if (gap.begin < rest.begin) {
    Infer(gap.begin, rest.begin, gap.left, gap.time_us);
  }
  if (rest.begin < rest.end && !any_residency_) {
    PageOwner before;
    before.mapping = gap.mapping;
    Own(rest.begin, rest.end, OwnerId(before), gap.time_us);
  } else if (rest.begin < rest.end && !sampled_) {
    unowned_[gap.mapping] += rest.end - rest.begin;
  }
  if (rest.end < gap.end) {
    Infer(rest.end, gap.end, gap.right, gap.time_us);
  }
}

// They came together with a page beside them.
void ResidentModel::Infer(uint64_t begin, uint64_t end, const Owned& from,
                          uint64_t time_us) {
  const uint64_t owned_pages = owned_pages_;
  Own(begin, end, InferredId(from.owner), time_us);
  if (from.came_us > rss_us_) {
    changed_since_rss_ += owned_pages_ - owned_pages;
  }
}

// Those of the pages that nobody has.
void ResidentModel::OwnFree(uint64_t begin, uint64_t end, uint32_t owner,
                            uint64_t time_us) {
  std::vector<uint64_t> known;
  pages_.ForRange(begin, end, [&](uint64_t page, PageMap::Page*) {
    known.push_back(page);
  });
  for (const uint64_t page : known) {
    Own(begin, page, owner, time_us);
    begin = page + 1;
  }
  Own(begin, end, owner, time_us);
}

void ResidentModel::Own(uint64_t begin, uint64_t end, uint32_t owner,
                        uint64_t time_us) {
  for (uint64_t page = begin; page < end; ++page) {
    if (Put(page, owner, time_us)) continue;
    not_kept_ += end - page;  // there is no room for the others either
    return;
  }
}

}  // namespace pymemrun
