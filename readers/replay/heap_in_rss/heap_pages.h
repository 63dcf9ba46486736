// Whose blocks lie in each resident page: `pymemreport resident --owner heap`.
#ifndef PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_PAGES_H_
#define PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_PAGES_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/place_tree.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/resident/resident_replay.h"

namespace pymemrun {

// What becomes of the bytes of all pages that have an owner. Of a heap that was
// sampled see EstimateCharges(). Where each block is known:
//   - A page in which blocks are alive is charged to them, each with the bytes
//     of it that lie there, as many times as the block stands for. Where
//     samples stand for more than the page has, each gets its part of it.
//   - What they leave of it is charged to the mappings of C code that lie
//     there, likewise; so is a page without blocks. Mappings that are pools of
//     libraries count as none, unless `of_mappers`.
//   - What then is left of a page with blocks or mappings is slack.
//   - Other pages stay with whoever touched them first.
struct HeapCharges {
  std::vector<double> by_source;  // HeapModel::sources()
  std::vector<double> variance;   // of by_source; empty: 0
  std::vector<double> by_owner;   // ResidentModel::owners()
  double slack_bytes = 0;
};

// A part of the bytes of a page, with its weight; or of the bytes of several
// pages from `page` on, each of weight 1.
struct PageCharge {
  enum class To { kOwner, kSource, kSlack };
  uint64_t page;
  uint32_t weight;  // of the page
  To to;
  uint32_t id;  // owner or source
  double bytes;
};

// Memory: 24 bytes for each live block, beside the models. Also says each part
// where there is a `visit`, in the order of pages.
HeapCharges ChargePages(
    const ResidentModel& pages, const HeapModel& heap,
    const std::function<void(const PageCharge&)>& visit = nullptr,
    bool of_mappers = false);

// The places, most bytes first, at most `limit` of them (0: all), then the
// others as one row, if there are any, what `threads` (null: all) does not
// keep, what the allocator keeps free in pages with blocks, what was there
// before tracing and what has no owner: all rows add up to RSS. `heap_bytes` is
// the part of `resident_bytes` that blocks are charged with. Where pages or
// blocks were sampled `error_bytes` is one standard error of `resident_bytes`
// for that. REQUIRES: both replays are of one file and moment; `by` is not
// kMapping.
Table HeapResidentTable(GroupBy by, uint64_t limit, const ResidentReplay& pages,
                        const HeapReplay& heap,
                        ThreadFilter* threads = nullptr);

// The same as a call tree of places. The replays must outlive it. REQUIRES: the
// same.
PlaceTree HeapResidentTree(GroupBy by, const ResidentReplay& pages,
                           const HeapReplay& heap,
                           ThreadFilter* threads = nullptr);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_PAGES_H_
