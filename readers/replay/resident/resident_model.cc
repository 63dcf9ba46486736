#include "readers/replay/resident/resident_model.h"

#include <algorithm>

#include "readers/replay/resident/page_gap.h"

namespace pymemrun {
namespace {

// How long filling a huge page may take on a busy machine; usually a third of a
// millisecond.
constexpr uint64_t kMostFillUs = 5000;
// The weight of a page is cut to this, whatever the file says, so that sums
// stay far below 64 bits.
constexpr uint32_t kMaxWeight = 1 << 20;
// The most pages in all, weighted: in bytes they fit into 60 bits.
constexpr uint64_t kMostPages = uint64_t{1} << 44;
// Gaps that each entry or range allows to be examined. Real files have fewer.
constexpr uint64_t kGapsForEach = 64;
// Gaps are fetched in portions: a range of a damaged file may have millions.
constexpr size_t kGapsAtOnce = 64;

bool IsPageSize(uint64_t bytes) {
  return bytes >= 4096 && bytes <= kAroundBytes && (bytes & (bytes - 1)) == 0;
}

}  // namespace

ResidentModel::ResidentModel(const Limits& limits)
    : limits_(limits), pages_(limits.runs), gaps_left_(limits.gaps) {}

void ResidentModel::SetHeader(const Header& header) {
  if (IsPageSize(header.page_bytes())) page_bytes_ = header.page_bytes();
  sampled_ = header.page_weight() > 1;
  by_scan_ = header.page_scan();
  tells_calls_ = !header.calls_off();
}

uint64_t ResidentModel::RssBytes() const {
  // Page events go on from statm's latest word. The difference may be negative,
  // and wraps.
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
  auto range = ranges_.begin();
  const auto end_of = [](const ResidentRange& of) {
    return of.page + of.pages;
  };
  // Pages that came while the kernel was asked have owners by now.
  pages_.ForEach([&](const PageMap::Run& run) {
    if (run.came_us < ranges_us_) return;
    while (range != ranges_.end() && end_of(*range) <= run.begin) ++range;
    for (auto at = range; at != ranges_.end() && at->page < run.end; ++at) {
      const auto found = unowned.find(at->mapping);
      if (found == unowned.end()) continue;
      const uint64_t pages =
          std::min(end_of(*at), run.end) - std::max(at->page, run.begin);
      found->second -= std::min(found->second, pages);
    }
  });
  return unowned;
}

void ResidentModel::SetRss(uint64_t rss_bytes, uint64_t time_us) {
  rss_bytes_ = rss_bytes;
  rss_us_ = time_us;
  owned_at_rss_ = owned_pages_;
  // The kernel has not counted a huge page that is still being filled. Expect
  // it on top of this RSS.
  const uint64_t owned = OwnedBytes();
  const bool is_filling = huge_us_ != 0 && time_us <= huge_us_ + kMostFillUs;
  if (any_residency_ && is_filling && owned >= rss_bytes + kHugeBytes / 2) {
    owned_at_rss_ -= kHugeBytes / page_bytes_;
  }
}

// Entries one after the other mostly have one owner, so the last one is tried
// before the hash table. Returns 0 if the table of owners is full.
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

// From here on each page of the run stands for itself. Returns the owner with
// weight 1.
uint32_t ResidentModel::CountEach(const PageMap::Run& run) {
  PageOwner owner = owners_[run.owner];
  owner.weight = 1;
  const uint32_t id = OwnerId(owner);
  if (id == 0) return run.owner;
  DropRun(run);
  counts_[id] += run.pages();
  owned_pages_ += run.pages();
  return id;
}

// Takes pages away from `owner`, which may be 0.
void ResidentModel::Drop(uint32_t owner, uint64_t pages) {
  if (owner == 0) return;
  counts_[owner] -= pages;
  owned_pages_ -= pages * owners_[owner].weight;
}

// Adds a run where nothing is resident. Returns false if it does not fit.
bool ResidentModel::Put(const PageMap::Run& run) {
  if (run.owner == 0) return false;
  const uint64_t weight = owners_[run.owner].weight;
  if (run.pages() > (kMostPages - owned_pages_) / weight) return false;
  if (!pages_.Put(run)) return false;
  counts_[run.owner] += run.pages();
  owned_pages_ += run.pages() * weight;
  return true;
}

void ResidentModel::Add(const PageEntry& entry, uint32_t task, uint32_t waits) {
  task_ = task;
  waits_ = waits;
  gaps_left_ += kGapsForEach;
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

// The owner that the pages of an entry are charged to.
uint32_t ResidentModel::ToucherId(const PageEntry& entry) {
  PageOwner owner;
  owner.mapping = entry.mapping;
  if (entry.time_us == 0) return OwnerId(owner);  // the interpreter's start
  if (entry.stack == 0) {                         // unknown
    owner.by_scan = true;
    return OwnerId(owner);
  }
  owner.stack = entry.stack;
  owner.thread = entry.thread;
  owner.code_mapping = entry.code_mapping;
  owner.task = task_;
  owner.waits = waits_;
  // The kernel brought more than two side by side at once: these pages were not
  // sampled one by one.
  owner.weight = entry.pages > 2 ? 1 : std::min(entry.weight, kMaxWeight);
  owner.inferred = entry.inferred;
  return OwnerId(owner);
}

void ResidentModel::Come(const PageEntry& entry) {
  const PageMap::Run there = pages_.At(entry.page);
  PageMap::Run run = {entry.page, entry.page + 1, entry.time_us};
  // Written after a fork: the child's copy of a page that was there before.
  if (there.owner != 0 && fork_us_ != 0 && there.came_us <= fork_us_) {
    run.came_us = std::max(entry.time_us, fork_us_ + 1);
    run.owner = there.owner;
    run.sampled = there.sampled;
    pages_.Put(run);
    return;
  }
  // A Residency has confirmed aged runs. A page that a scan found has no
  // toucher yet, so it takes this one.
  const bool same = there.aged && !owners_[there.owner].by_scan;
  if (there.owner != 0 && same) return;  // memory that is resident already
  if (there.owner != 0 && !there.sampled && entry.weight > 1) {
    TakeApart(there, entry.page);
  }
  run.owner = ToucherId(entry);
  run.sampled = owners_[run.owner].weight > 1;
  sampled_ |= entry.weight > 1;
  const uint32_t replaced = pages_.At(entry.page).owner;
  if (Put(run)) return Drop(replaced, 1);
  ++not_kept_;
}

// A huge page takes one fault. A second fault in it shows that these are small
// pages, which come one by one; sampled pages stand for them.
void ResidentModel::TakeApart(const PageMap::Run& run, uint64_t page) {
  const uint64_t block = kHugeBytes / page_bytes_;
  const uint64_t first = page / block * block;
  const uint64_t begin = std::max(run.begin, first);
  const uint64_t end = std::min(run.end, first + block);
  if (end - begin > 2) Remove(begin, end - begin);
}

void ResidentModel::Populate(const PageEntry& entry) {
  sampled_ |= entry.weight > 1;
  if (entry.pages == kHugeBytes / page_bytes_) huge_us_ = entry.time_us;
  Own(entry.page, entry.page + entry.pages, ToucherId(entry), entry.time_us);
}

void ResidentModel::Add(const LateArrival& late) {
  const PageMap::Run with = pages_.At(late.with);
  if (with.owner == 0) return;
  const uint64_t owned_pages = owned_pages_;
  Own(late.begin, late.end, InferredId(with.owner), with.came_us);
  // RSS as read since includes them.
  if (with.came_us <= rss_us_) owned_at_rss_ += owned_pages_ - owned_pages;
}

void ResidentModel::Remove(uint64_t page, uint64_t pages) {
  under_way_.Remove(page, page + pages);
  pages_.Remove(page, page + pages,
                [this](const PageMap::Run& run) { DropRun(run); });
}

// Moved pages get the time of the move. So a Residency that was asked for
// before it does not remove them.
void ResidentModel::Move(const PageEntry& entry) {
  under_way_.Remove(entry.page, entry.page + entry.pages);
  pages_.Move(entry.page, entry.page + entry.pages, entry.moved_to,
              entry.time_us, [this](const PageMap::Run& run) { DropRun(run); });
}

void ResidentModel::Add(const ResidencyView& seen) {
  const uint64_t owned_pages = owned_pages_;
  changed_since_rss_ = 0;
  RemoveUnseen(seen);
  under_way_.Return(seen.ranges, [&](const PageMap::Run& run) {
    Own(run.begin, run.end, run.owner, seen.begin_us - 1);
  });
  FindOwners(seen);
  any_residency_ = true;
  ranges_.assign(seen.ranges.begin(), seen.ranges.end());
  ranges_us_ = seen.begin_us;
  // RSS at its last reading does not change: only more of it has an owner now.
  owned_at_rss_ += owned_pages_ - owned_pages - changed_since_rss_;
  // What came after the last reading of RSS keeps its time: it is still added
  // to that RSS.
  const uint64_t read_us = rss_bytes_ == 0 ? UINT64_MAX : rss_us_;
  pages_.Age(std::min(seen.begin_us, read_us), fork_us_);
}

void ResidentModel::RemoveUnseen(const ResidencyView& seen) {
  const auto gone = [this](const PageMap::Run& run) {
    // RSS was raised by what came after statm was read, and has to fall again.
    // What came before is in statm's count, whether known or not.
    if (run.came_us > rss_us_) {
      changed_since_rss_ -= run.pages() * owners_[run.owner].weight;
    }
    DropRun(run);
    under_way_.Miss(run, ranges_us_);
  };
  uint64_t begin = 0;
  for (const ResidentRange& range : seen.ranges) {
    pages_.RemoveOlder(begin, range.page, seen.begin_us, gone);
    begin = range.page + range.pages;
  }
  pages_.RemoveOlder(begin, kMaxPage, seen.begin_us, gone);
}

void ResidentModel::FindOwners(const ResidencyView& seen) {
  unowned_.clear();
  for (const ResidentRange& range : seen.ranges) {
    gaps_left_ += kGapsForEach;
    // They came before the kernel was asked.
    FindOwners(range, std::max<uint64_t>(seen.begin_us, 1) - 1);
  }
}

// Charges the pages of a range that have no owner, by the rules of the header.
void ResidentModel::FindOwners(const ResidentRange& range, uint64_t time_us) {
  const uint64_t end = range.page + range.pages;
  // A huge page is known as a whole: its sampled pages stand only for
  // themselves.
  if (range.huge && sampled_) {
    pages_.ReplaceSampled(range.page, end, [this](const PageMap::Run& run) {
      return CountEach(run);
    });
  }
  PageOwner found = {.mapping = range.mapping, .by_scan = any_residency_};
  // From before tracing, or found by a scan: one owner for the whole range.
  if (!any_residency_ || by_scan_) {
    const bool tells = !range.file_backed || tells_calls_;
    if (any_residency_ && tells &&
        pages_.Covered(range.page, end) < range.pages) {
      found = ran_;
      found.mapping = range.mapping;
    }
    return Own(range.page, end, OwnerId(found), time_us);
  }
  const PageGap gap = {.block = BlockOf(range, page_bytes_),
                       .piece = PieceOf(range, page_bytes_),
                       .mapping = range.mapping,
                       .time_us = time_us};
  if (gap.piece == 1) return CountUnowned(range.page, end, range.mapping);
  FillGaps(range, gap);
  // A driver brought the rest, or it came with pages that have gone since.
  if (IsOfFile(gap) && !sampled_ && gaps_left_ > 0) {
    Own(range.page, end, OwnerId(found), time_us);
  }
}

void ResidentModel::FillGaps(const ResidentRange& range, PageGap gap) {
  const uint64_t end = range.page + range.pages;
  for (uint64_t begin = range.page; begin < end;) {
    const uint64_t most = std::min<uint64_t>(gaps_left_, kGapsAtOnce);
    const auto gaps = pages_.Gaps(begin, end, most);
    gaps_left_ -= gaps.size();
    for (const PageMap::Range& one : gaps) {
      gap.begin = one.begin;
      gap.end = one.end;
      gap.left = Known(pages_.Before(one.begin), one.begin - 1, range);
      gap.right = Known(pages_.After(one.end), one.end, range);
      Fill(gap);
    }
    if (gaps.size() < kGapsAtOnce && gaps_left_ > 0) return;
    if (!gaps.empty()) begin = gaps.back().end;
    if (gaps_left_ == 0) return CountUnowned(begin, end, range.mapping);
  }
}

// The page of `run` nearest to `beside`, if it is in one block with the range
// and its owner may be inferred for others.
KnownPage ResidentModel::Known(const PageMap::Run& run, uint64_t beside,
                               const ResidentRange& range) const {
  // By scan: a file's pages were all found at once, and those of other memory
  // have no recorded fault. Nothing can be inferred from them.
  if (run.owner == 0 || owners_[run.owner].by_scan) return {};
  if (run.sampled && !range.huge) return {};
  const uint64_t block = BlockOf(range, page_bytes_);
  const uint64_t first = range.page / block * block;
  const uint64_t end = range.page + range.pages;
  const uint64_t last = (end + block - 1) / block * block - 1;
  const uint64_t page = std::clamp(beside, run.begin, run.end - 1);
  if (page < first || page > last) return {};
  return {page, run.owner, run.came_us};
}

void ResidentModel::CountUnowned(uint64_t begin, uint64_t end,
                                 uint32_t mapping) {
  if (sampled_ || begin >= end) return;
  const uint64_t pages = end - begin - pages_.Covered(begin, end);
  if (pages > 0) unowned_[mapping] += pages;
}

// Charges the pages of a gap to its neighbours' owners, where these are near
// enough.
void ResidentModel::Fill(const PageGap& gap) {
  if (gap.begin >= gap.end) return;
  GapMiddle rest = WithoutNear(gap, gap.block, {gap.begin, gap.end});
  // Beyond a block only a whole piece counts: the neighbour must be adjacent.
  if (gap.piece > gap.block) {
    PageGap inside = gap;
    if (gap.left.page + 1 != gap.begin) inside.left = {};
    if (gap.right.page != gap.end) inside.right = {};
    rest = WithoutNear(inside, gap.piece, rest);
  }
  if (gap.begin < rest.begin) {
    Infer(gap.begin, rest.begin, gap.left, gap.time_us);
  }
  if (rest.begin < rest.end && !sampled_ && !IsOfFile(gap)) {
    unowned_[gap.mapping] += rest.end - rest.begin;
  }
  if (rest.end < gap.end) {
    Infer(rest.end, gap.end, gap.right, gap.time_us);
  }
}

// These pages came together with the page `from`.
void ResidentModel::Infer(uint64_t begin, uint64_t end, const KnownPage& from,
                          uint64_t time_us) {
  const uint64_t owned_pages = owned_pages_;
  Own(begin, end, InferredId(from.owner), time_us);
  if (from.came_us > rss_us_) {
    changed_since_rss_ += owned_pages_ - owned_pages;
  }
}

// Charges the pages of a range that have no owner yet.
void ResidentModel::Own(uint64_t begin, uint64_t end, uint32_t owner,
                        uint64_t time_us) {
  while (begin < end) {
    const auto gaps = pages_.Gaps(begin, end, kGapsAtOnce);
    for (const PageMap::Range& gap : gaps) {
      if (Put({gap.begin, gap.end, time_us, owner,
               owners_[owner].weight > 1})) {
        continue;
      }
      // The others do not fit either.
      not_kept_ += end - gap.begin - pages_.Covered(gap.begin, end);
      return;
    }
    if (gaps.size() < kGapsAtOnce) return;
    begin = gaps.back().end;
  }
}

}  // namespace pymemrun
