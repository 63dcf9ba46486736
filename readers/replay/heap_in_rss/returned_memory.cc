#include "readers/replay/heap_in_rss/returned_memory.h"

#include <algorithm>
#include <array>

namespace pymemrun {
namespace {

// What a part of a page belongs to.
enum Part {
  kResident,
  kBefore,  // resident before tracing
  kGoing,
  kStaying,
  kMapped,     // of a large block that is freed
  kEmptied,    // an arena that becomes empty
  kKeptArena,  // another arena
  kTop,        // the end of malloc's heap, above everything that stays
  kParts,
};

// From `page` on there is one more, or one less, of this part.
struct Step {
  uint64_t page;
  Part part;
  int change;
};

// glibc's default; it rises when larger blocks are freed.
constexpr uint64_t kMmapThreshold = 128 << 10;
// glibc's header before each block.
constexpr uint64_t kChunkHeader = 16;
// What glibc keeps at the end of a heap, by default.
constexpr uint64_t kTopPad = 128 << 10;

// The first range that starts at `address` or above.
std::vector<BlockRange>::const_iterator From(
    const std::vector<BlockRange>& blocks, uint64_t address) {
  return std::partition_point(
      blocks.begin(), blocks.end(),
      [&](const BlockRange& block) { return block.begin < address; });
}

// A sweep over pages by ascending address: steps say where a part starts and
// ends. Between two steps all pages are alike.
class PageSweep {
 public:
  explicit PageSweep(const ResidentModel& pages)
      : page_bytes_(pages.page_bytes()) {
    pages.pages().ForEach([&](const PageMap::Run& run) {
      AddPages(run.begin, run.end, kResident);
      if (!pages.owners()[run.owner].before_tracing()) return;
      AddPages(run.begin, run.end, kBefore);
      before_.push_back({run.begin, run.end});
    });
  }

  // REQUIRES: sorted by address, not empty.
  // Adjacent blocks are joined, so that there are few steps.
  void AddBlocks(const std::vector<BlockRange>& blocks, Part part) {
    PageMap::Range open = {0, 0};
    for (const BlockRange& block : blocks) {
      const uint64_t begin = block.begin / page_bytes_;
      const uint64_t end = (block.end - 1) / page_bytes_ + 1;
      if (begin > open.end) {
        AddPages(open.begin, open.end, part);
        open = {begin, end};
      }
      open.end = std::max(open.end, end);
    }
    AddPages(open.begin, open.end, part);
  }
  // Blocks that malloc has mapped one by one follow a header at the start of a
  // page.
  void AddMapped(const std::vector<BlockRange>& going) {
    std::vector<BlockRange> mapped;
    for (const BlockRange& block : going) {
      if (block.is_mapping ||
          (block.end - block.begin >= kMmapThreshold - kChunkHeader &&
           block.begin % page_bytes_ == kChunkHeader)) {
        mapped.push_back(block);
      }
    }
    AddBlocks(mapped, kMapped);
  }
  void AddArena(const PythonArenas::Arena& arena, bool is_emptied) {
    AddPages(arena.begin / page_bytes_,
             (arena.end + page_bytes_ - 1) / page_bytes_,
             is_emptied ? kEmptied : kKeptArena);
  }
  // The end of the heap above all blocks that stay.
  void AddTop(const std::vector<BlockRange>& staying, const MallocHeap& heap);
  // Whether some of these addresses were resident before tracing.
  bool IsOlder(uint64_t begin, uint64_t end) const {
    const uint64_t page = begin / page_bytes_;
    const auto after = std::partition_point(
        before_.begin(), before_.end(),
        [&](const PageMap::Range& range) { return range.end <= page; });
    return after != before_.end() && after->begin * page_bytes_ < end;
  }
  ReturnedMemory Sweep();

 private:
  void AddPages(uint64_t begin, uint64_t end, Part part) {
    if (begin >= end) return;
    steps_.push_back({begin, part, 1});
    steps_.push_back({end, part, -1});
  }
  void Charge(uint64_t bytes, ReturnedMemory* returned);
  void ChargeTop(ReturnedMemory* returned) const;

  const uint64_t page_bytes_;
  std::vector<Step> steps_;
  uint64_t trim_bytes_ = 0;
  uint64_t top_going_bytes_ = 0, top_free_bytes_ = 0;
  std::vector<PageMap::Range> before_;
  std::array<int64_t, kParts> there_ = {};
};

// Charges each stretch between two steps by what is in it.
ReturnedMemory PageSweep::Sweep() {
  std::sort(steps_.begin(), steps_.end(),
            [](const Step& a, const Step& b) { return a.page < b.page; });
  ReturnedMemory returned;
  uint64_t page = 0;
  for (const Step& step : steps_) {
    Charge((step.page - page) * page_bytes_, &returned);
    page = step.page;
    there_[step.part] += step.change;
  }
  ChargeTop(&returned);
  return returned;
}

void PageSweep::AddTop(const std::vector<BlockRange>& staying,
                       const MallocHeap& heap) {
  uint64_t top = heap.begin;
  auto above = From(staying, heap.end);
  if (above != staying.begin()) top = std::max(top, (--above)->end);
  for (const PageMap::Range& range : before_) {
    // Pages from before tracing in the heap stay, too.
    if (range.begin * page_bytes_ >= heap.end) break;
    top = std::max(top, range.end * page_bytes_);
  }
  AddPages((top + page_bytes_ - 1) / page_bytes_, heap.end / page_bytes_, kTop);
  trim_bytes_ = heap.trim_bytes;
}

void PageSweep::ChargeTop(ReturnedMemory* returned) const {
  const uint64_t top_bytes = top_going_bytes_ + top_free_bytes_;
  // glibc trims only if more than the threshold is free, and keeps a pad
  // (M_TRIM_THRESHOLD and M_TOP_PAD, see mallopt(3)).
  const bool is_trimmed =
      top_going_bytes_ > 0 && top_bytes > std::max(trim_bytes_, kTopPad);
  returned->trimmed_bytes = is_trimmed ? top_bytes - kTopPad : 0;
  returned->malloc_bytes += is_trimmed ? kTopPad : top_going_bytes_;
  returned->alone_bytes += is_trimmed ? top_bytes : top_going_bytes_;
}

void PageSweep::Charge(uint64_t bytes, ReturnedMemory* returned) {
  if (there_[kResident] == 0) return;
  // One block that stays, or one page with unknown contents, keeps the page.
  const bool is_pinned = there_[kStaying] > 0 || there_[kBefore] > 0;
  if (is_pinned) {
    if (there_[kGoing] > 0) returned->shared_bytes += bytes;
    return;
  }
  if (there_[kTop] > 0) {
    (there_[kGoing] > 0 ? top_going_bytes_ : top_free_bytes_) += bytes;
    return;
  }
  // An emptied arena is unmapped with its free pools, so it comes before the
  // test for freed blocks.
  if (there_[kEmptied] > 0) {
    returned->arena_bytes += bytes;
  } else if (there_[kGoing] == 0) {
    return;
  } else if (there_[kMapped] > 0) {
    returned->mapped_bytes += bytes;
  } else if (there_[kKeptArena] > 0) {
    returned->kept_arena_bytes += bytes;
  } else {
    returned->malloc_bytes += bytes;
  }
  returned->alone_bytes += bytes;
}

void Sort(std::vector<BlockRange>* blocks) {
  std::sort(blocks->begin(), blocks->end(),
            [](const BlockRange& a, const BlockRange& b) {
              return a.begin < b.begin;
            });
}

bool HasBlock(const std::vector<BlockRange>& blocks,
              const PythonArenas::Arena& arena) {
  // The last pool may be incomplete, as arenas are aligned to pages, but pools
  // to their size. Something else may start there.
  const uint64_t sure_end = arena.end - arena.pool_bytes;
  for (auto at = From(blocks, arena.begin);
       at != blocks.end() && at->begin < arena.end; ++at) {
    if (at->begin < sure_end || at->is_small) return true;
  }
  return false;
}

}  // namespace

// Decides which arenas become empty, then sweeps over all pages once.
ReturnedMemory MemoryWithout(std::vector<BlockRange> going,
                             std::vector<BlockRange> staying,
                             const std::vector<PythonArenas::Arena>& arenas,
                             const MallocHeap& malloc_heap,
                             const ResidentModel& pages) {
  Sort(&going);
  Sort(&staying);
  PageSweep sweep(pages);
  sweep.AddBlocks(going, kGoing);
  sweep.AddMapped(going);
  sweep.AddBlocks(staying, kStaying);
  sweep.AddTop(staying, malloc_heap);
  uint64_t emptied = 0;
  // obmalloc.c keeps one empty arena for the next blocks.
  bool has_spare = false;
  for (const PythonArenas::Arena& arena : arenas) {
    if (arena.end - arena.begin < arena.pool_bytes) continue;
    // There is a pool from before tracing just below: what seems to start here
    // is the rest of its arena.
    const uint64_t below =
        arena.begin - std::min(arena.begin, arena.pool_bytes);
    const bool is_emptied = HasBlock(going, arena) &&
                            !HasBlock(staying, arena) &&
                            !sweep.IsOlder(below, arena.end - arena.pool_bytes);
    sweep.AddArena(arena, is_emptied && has_spare);
    emptied += is_emptied && has_spare;
    has_spare |= is_emptied;
  }
  ReturnedMemory returned = sweep.Sweep();
  returned.arenas = emptied;
  return returned;
}

}  // namespace pymemrun
