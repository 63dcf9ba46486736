// Which pages are resident, and who owns each. Used by ResidentModel.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAP_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "readers/places/place_table.h"
#include "readers/replay/resident/page_run_tree.h"

namespace pymemrun {

// Runs of pages. An operation on a range takes time for the runs that it adds
// or removes, and logarithmic time for all others. Moving or ageing a million
// runs, or finding that none has to be removed, is cheap. So reading takes time
// in proportion to the file's size, even for a malicious file. Each run takes
// 40 to 80 bytes. Not thread safe.
class PageMap {
 public:
  using Run = PageRun;
  // Page numbers; `end` is excluded.
  struct Range {
    uint64_t begin, end;
  };

  // Enough for 32 GiB of pages if no two neighbours can be joined.
  static constexpr size_t kMaxRuns = size_t{1} << 23;

  explicit PageMap(size_t max_runs = kMaxRuns) : max_runs_(max_runs) {}
  PageMap(const PageMap&) = delete;
  PageMap& operator=(const PageMap&) = delete;

  // Each returns an empty run (owner 0) if it finds no run. At: the run that
  // contains `page`. Before: the last run that starts below `page`. After: the
  // first run that ends above `page`.
  Run At(uint64_t page) const;
  Run Before(uint64_t page) const;
  Run After(uint64_t page) const;
  // The number of pages in a range that are resident.
  uint64_t Covered(uint64_t begin, uint64_t end) const;
  // The parts of a range that are not resident, in the order of addresses;
  // `most` of them at most.
  std::vector<Range> Gaps(uint64_t begin, uint64_t end, size_t most) const;
  void ForEach(VisitRun visit) const;  // in the order of addresses
  // Visits the runs of a range that have not aged, until `visit` returns false.
  // Takes no time for the aged ones.
  void ForEachNew(uint64_t begin, uint64_t end, VisitRunWhile visit) const;
  size_t runs() const { return tree_.runs(); }

  // Adds a run. Returns false, and adds nothing, if the map is full. REQUIRES:
  // the run is a single page, or nothing is resident there yet.
  bool Put(const Run& run);
  // Each calls `visit` with the runs that it removes.
  //
  // Remove: all in the range. RemoveOlder: those that came before `before_us`.
  // Move: those at the new place; the moved runs get the time `came_us`.
  void Remove(uint64_t begin, uint64_t end, VisitRun visit);
  void RemoveOlder(uint64_t begin, uint64_t end, uint64_t before_us,
                   VisitRun visit);
  void Move(uint64_t begin, uint64_t end, uint64_t to, uint64_t came_us,
            VisitRun visit);
  // Gives the sampled runs of a range another owner, whose pages are not
  // sampled.
  void ReplaceSampled(uint64_t begin, uint64_t end, NewRunOwner owner);
  // Forgets the times before `before_us`, except whether they were after
  // `mark_us`. Neighbouring runs that differed only by time become one.
  void Age(uint64_t before_us, uint64_t mark_us);

 private:
  using Node = PageRunTree::Node;
  class GapFinder;

  // Cuts the subtree of a range out, and puts what `change` makes of it in its
  // place.
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
  // The node found last, which covers the pages from found_begin_ to
  // found_end_: events often touch neighbouring pages one after another. If its
  // runs were changed, Settle() corrects the sums of its ancestors.
  mutable Node* found_ = nullptr;
  mutable uint64_t found_begin_ = 0, found_end_ = 0;
  mutable bool changed_ = false;
  mutable std::vector<Node*> path_;  // from the root to found_
};

// The code that made RSS grow. Ids are those of the run file. Stack 0: it is
// unknown.
struct WhoRan {
  uint32_t stack = 0, thread = 0;
  uint32_t waits = 0;  // see Origin

  friend bool operator==(const WhoRan& a, const WhoRan& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const WhoRan& ran) {
    return H::combine(std::move(h), ran.stack, ran.thread, ran.waits);
  }
};

// Who a page is charged to. Ids are those of the run file.
struct PageOwner {
  uint32_t stack = 0;
  uint32_t thread = 0;        // 0: before tracing
  uint32_t code_mapping = 0;  // the mapping that has the instruction
  uint32_t mapping = 0;       // the mapping of the page when it came
  uint32_t task = 0;      // the task whose step touched it; 0: not told apart
  uint32_t weight = 1;    // each page stands for this number of pages
  bool inferred = false;  // from the owner of a neighbouring page
  bool by_scan = false;   // a scan found it; its toucher is unknown
  // For pages found by a scan: the code during which RSS grew most since the
  // scan before, if one is certain. For pages of files only where calls are
  // recorded.
  WhoRan ran;
  // The same, certain or not, without imports: these hardly use pools.
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
  // The recorded or the likely toucher; then the same for a page of a library's
  // pool.
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
