// Charges resident pages to the blocks in them: `pymemreport resident --owner
// heap`.
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

// How the bytes of all pages that have an owner are charged. See
// EstimateCharges() for a sampled heap. If every block is known:
//   - A page with live blocks is charged to them: each has its bytes within the
//     page, times its weight. If these exceed the page, each gets a
//     proportional part of the page.
//   - The rest of the page, or a page without blocks, is charged likewise to
//     mappings that C code made there. Libraries' pools are not such mappings,
//     unless `of_mappers`.
//   - What then remains of a page with blocks or mappings is slack.
//   - Other pages stay with the code that touched them first.
struct HeapCharges {
  std::vector<double> by_source;  // HeapModel::sources()
  std::vector<double> variance;   // of by_source; empty: 0
  std::vector<double> by_owner;   // ResidentModel::owners()
  double slack_bytes = 0;
};

// A part of the bytes of a page, multiplied by its weight; or bytes of several
// pages from `page` on, which have weight 1.
struct PageCharge {
  enum class To { kOwner, kSource, kSlack };
  uint64_t page;
  uint32_t weight;  // of the page
  To to;
  uint32_t id;  // owner or source
  double bytes;
};

// Memory: 24 bytes for each live block, besides the models. Calls `visit`, if
// it is not null, with each part, in the order of pages.
HeapCharges ChargePages(
    const ResidentModel& pages, const HeapModel& heap,
    const std::function<void(const PageCharge&)>& visit = nullptr,
    bool of_mappers = false);

// The places, most bytes first, at most `limit` of them (0: all). Then one row
// each for: the other places; threads that `threads` (null: none) leaves out;
// free memory in pages with blocks; memory from before tracing; memory without
// an owner. All rows add up to RSS.
//
// `heap_bytes` is the part of `resident_bytes` that is charged to blocks. If
// pages or blocks were sampled, `error_bytes` is one standard error of
// `resident_bytes`. REQUIRES: both replays are of one file and moment; `by` is
// not kMapping.
Table HeapResidentTable(GroupBy by, uint64_t limit, const ResidentReplay& pages,
                        const HeapReplay& heap,
                        ThreadFilter* threads = nullptr);

// The same as a call tree. The replays must outlive it. REQUIRES: as above.
PlaceTree HeapResidentTree(GroupBy by, const ResidentReplay& pages,
                           const HeapReplay& heap,
                           ThreadFilter* threads = nullptr);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_HEAP_IN_RSS_HEAP_PAGES_H_
