// Which pages are resident and who owns each: the memory of ResidentModel.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAP_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/replay/resident/page_run_tree.h"

namespace pymemrun {

// Runs of pages. What happens to a range of pages takes time for the runs that
// are made or removed, and for all others only the logarithm of their number:
// moving a million runs, ageing them then, or finding that none is to go, is no
// work. So a file takes a time that its own size tells, whatever it says. Some
// 40 to 80 bytes for each run. Not thread safe.
class PageMap {
 public:
  using Run = PageRun;
  struct Range {
    uint64_t begin, end;
  };

  // 32 GiB of pages that have nothing in common with those beside them.
  static constexpr size_t kMaxRuns = size_t{1} << 23;

  explicit PageMap(size_t max_runs = kMaxRuns) : max_runs_(max_runs) {}
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  // The run in which the page is; the last one that begins below `page`; the
  // first one that ends above it.
  Run At(uint64_t page) const;
  Run Before(uint64_t page) const;
  Run After(uint64_t page) const;
  // How many pages of a range are there, and where none are: all such ranges,
  // or as many as `most` of them.
  uint64_t Covered(uint64_t begin, uint64_t end) const;
  std::vector<Range> Gaps(uint64_t begin, uint64_t end, size_t most) const;
  void ForEach(VisitRun visit) const;  // in the order of addresses
  // Those of a range that have not aged, until `visit` returns false. Takes no
  // time for the others.
  void ForEachNew(uint64_t begin, uint64_t end, VisitRunWhile visit) const;
  size_t runs() const { return tree_.runs(); }

  // Puts a run there; false: there is no room for it. REQUIRES: it is one page,
  // or nothing is there yet.
  bool Put(const Run& run);
  // Each calls `visit` with what it takes away. Remove: all in that range.
  // RemoveOlder: what came before `before_us`. Move: what was at the new place;
  // moved runs then have `came_us`.
  void Remove(uint64_t begin, uint64_t end, VisitRun visit);
  void RemoveOlder(uint64_t begin, uint64_t end, uint64_t before_us,
                   VisitRun visit);
  void Move(uint64_t begin, uint64_t end, uint64_t to, uint64_t came_us,
            VisitRun visit);
  // Gives the sampled runs there an owner whose pages are not sampled.
  void ReplaceSampled(uint64_t begin, uint64_t end, NewRunOwner owner);
  // Forgets when pages came that came before `before_us`. Keeps only whether
  // that was after `mark_us`. So runs side by side become one.
  void Age(uint64_t before_us, uint64_t mark_us);

 private:
  using Node = PageRunTree::Node;
  class GapFinder;

  // Takes a range's subtree out, and puts back what `change` makes of it.
  void Change(uint64_t begin, uint64_t end,
              absl::FunctionRef<Node*(Node*)> change);
  bool HasOlder(uint64_t begin, uint64_t end, uint64_t before_us) const;
  // Sets found_, found_begin_ and found_end_. REQUIRES: the map is not empty.
  void Find(uint64_t page) const;
  void Settle() const;
  void CloseFound() const;

  const size_t max_runs_;
  PageRunTree tree_;
  Node* root_ = nullptr;
  // Pages from found_begin_ to found_end_ belong to the node that was found
  // last: pages come in rows. Where it was changed its ancestors' sums are put
  // right by Settle().
  mutable Node* found_ = nullptr;
  mutable uint64_t found_begin_ = 0, found_end_ = 0;
  mutable bool changed_ = false;
  mutable std::vector<Node*> path_;  // to it
};

// Who a resident page is charged to.

// By whose doing RSS grew. Ids are those of the run file. Stack 0: nobody
// knows.
struct WhoRan {
  uint32_t stack = 0, thread = 0;
  uint32_t waits = 0;  // see Origin

  friend bool operator==(const WhoRan& a, const WhoRan& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const WhoRan& ran) {
    return H::combine(std::move(h), ran.stack, ran.thread, ran.waits);
  }
};

// Ids are those of the run file.
struct PageOwner {
  uint32_t stack = 0;
  uint32_t thread = 0;        // 0: before tracing
  uint32_t code_mapping = 0;  // of the instruction
  uint32_t mapping = 0;       // what the page was part of when it came
  uint32_t task = 0;          // whose step brought it, if that is told apart
  uint32_t weight = 1;        // each page stands for so many
  bool inferred = false;
  bool by_scan = false;  // nobody saw who brought it
  // By scan: whose doing RSS grew by most meanwhile, if that is sure. Of files
  // only where calls are recorded.
  WhoRan ran;
  // Likewise, sure or not. Imports hardly use pools.
  WhoRan ran_beside_imports;
  uint32_t waits = 0;  // see Origin

  bool before_tracing() const { return thread == 0 && !by_scan; }
  Origin origin() const {
    return {.stack = stack,
            .thread = thread,
            .mapping = mapping,
            .module = code_mapping,
            .waits = waits};
  }
  // Who brought it, or seems to have; as part of a library's pool.
  Origin likely_origin() const { return OriginBy(ran); }
  Origin likely_pool_origin() const {
    return OriginBy(ran_beside_imports.stack != 0 ? ran_beside_imports : ran);
  }
  Origin OriginBy(const WhoRan& who) const {
    Origin likely = origin();
    if (who.stack == 0) return likely;
    likely.stack = who.stack;
    likely.thread = who.thread;
    likely.waits = who.waits;
    return likely;
  }
  friend bool operator==(const PageOwner& a, const PageOwner& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const PageOwner& o) {
    return H::combine(std::move(h), o.stack, o.thread, o.code_mapping,
                      o.mapping, o.task, o.weight, o.inferred, o.by_scan, o.ran,
                      o.ran_beside_imports, o.waits);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAP_H_
