// The search tree under PageMap: a treap of runs of resident pages, ordered by
// address.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_RUN_TREE_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_RUN_TREE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/functional/function_ref.h"

namespace pymemrun {

// Adjacent pages that have one owner and came at the same time.
struct PageRun {
  uint64_t begin = 0, end = 0;  // page numbers: address / page size
  uint64_t came_us = 0;
  uint32_t owner = 0;    // 0: no such run; others are numbers of owners
  bool sampled = false;  // each page stands for several
  bool aged = false;     // the tree no longer keeps its exact time

  uint64_t pages() const { return end - begin; }
  // Whether `next`, which starts where this run ends, may be joined to it.
  bool GoesOnIn(const PageRun& next) const {
    return end == next.begin && owner == next.owner &&
           came_us == next.came_us && sampled == next.sampled &&
           aged == next.aged;
  }
  // Whether they could be joined if both had come at the same time.
  bool MayGoOnIn(const PageRun& next) const {
    return end == next.begin && owner == next.owner && sampled == next.sampled;
  }
};
using VisitRun = absl::FunctionRef<void(const PageRun&)>;
using VisitRunWhile = absl::FunctionRef<bool(const PageRun&)>;
using NewRunOwner = absl::FunctionRef<uint32_t(const PageRun&)>;

// The first run that ends above `page`. The runs are sorted and disjoint.
std::vector<PageRun>::iterator FirstRunAbove(std::vector<PageRun>* runs,
                                             uint64_t page);

// A treap: a search tree by address and a heap by random priority, so its depth
// is logarithmic whatever the file says (Aragon and Seidel: Randomized Search
// Trees, 1996). A node holds up to 32 neighbouring runs, which saves memory and
// cache misses. A change of a whole subtree, such as a move, is stored at its
// root and passed to the children when they are next visited. Functions take
// and return roots of subtrees; null is the empty tree. Owns the nodes. Not
// thread safe.
class PageRunTree {
 public:
  // The most runs of a node. A larger node saves pointers, a smaller one
  // copying.
  static constexpr size_t kNodeRuns = 32;
  static constexpr uint64_t kKeep = UINT64_MAX;
  // What is known of many runs without visiting them.
  struct Sums {
    uint64_t pages = 0;
    uint64_t oldest = kKeep;      // the least came_us; kKeep: no run
    uint64_t oldest_new = kKeep;  // likewise, of runs that have not aged
    bool sampled = false;
    bool loose = false;  // a node has adjacent runs that equal times would join

    void Add(const Sums& other);
  };
  // Its runs, and all runs of its subtree.
  struct Node {
    std::vector<PageRun> runs;  // never empty; out of date until Push()
    Node *left = nullptr, *right = nullptr;
    uint64_t priority = 0;
    // Page numbers where the node's own runs start and end, and where those of
    // its subtree do. `own` sums up the former, `all` the latter.
    uint64_t own_first = 0, own_last = 0, first = 0, last = 0;
    Sums own, all;
    // Pending for all runs of the subtree: an addition modulo 2^64, and a new
    // time unless it is kKeep. The node's sums have it already; its runs do
    // not.
    uint64_t shift = 0, came_us = kKeep;
    bool aged = false;  // set together with came_us
  };
  // The result of a split; null: nothing on that side.
  struct Halves {
    Node *left, *right;
  };

  PageRunTree();
  // A node of these runs. REQUIRES: they are sorted, disjoint, and at most
  // kNodeRuns.
  Node* NewNode(std::vector<PageRun> runs);
  // Moves the whole subtree by `shift` pages. Unless `came_us` is kKeep, sets
  // the time of all its runs, and whether they have aged. Takes constant time.
  static void Apply(uint64_t shift, uint64_t came_us, bool aged, Node* node);
  // Applies what is pending at the node to its runs, and passes it to its
  // children.
  static void Push(Node* node);
  // Recomputes the sums of a node. Pull: from the children and the node's own
  // sums. PullRuns: also the own sums, after the runs were changed.
  static void Pull(Node* node);
  static void PullRuns(Node* node);
  // Left: all pages below `page`; right: the others. Cuts a run that holds
  // both.
  Halves Split(Node* node, uint64_t page);
  // REQUIRES: all pages of `left` are below all of `right`.
  static Node* Merge(Node* left, Node* right);
  // Visits all runs in the order of addresses.
  static void Walk(Node* node, VisitRun visit);
  // Visits the runs from `begin` to `end` that have not aged, until `visit`
  // returns false. Returns false if `visit` did.
  static bool WalkNew(Node* node, uint64_t begin, uint64_t end,
                      VisitRunWhile visit);
  // Each calls `visit` with the runs it removes, and returns the rest of the
  // subtree.
  Node* FreeAll(Node* node, VisitRun visit);
  Node* FreeOlder(Node* node, uint64_t before_us, VisitRun visit);
  // Gives each sampled run the owner that the function returns, and makes it an
  // unsampled one.
  static void ReplaceSampled(Node* node, NewRunOwner owner);
  // See PageMap::Age(). A subtree that was moved as a whole takes constant
  // time, unless runs in it can be joined.
  void Age(Node* node, uint64_t before_us, uint64_t mark_us);
  // Rebuilds the tree with full nodes if most are nearly empty. Waits until
  // enough nodes were made since the last time to pay for the work.
  Node* RebuildIfSparse(Node* root);

  // The number of runs in all subtrees.
  size_t runs() const { return runs_; }
  // To be called after the runs of a node were changed directly.
  void CountRuns(size_t change) { runs_ += change; }

 private:
  void Free(Node* node);  // the node, without its children
  // Splits like Split(). A node that `page` cuts keeps its lower runs; its
  // upper runs become a new node `cut`, which is between the halves. The caller
  // merges `cut` by its own random priority. Linked here, below nodes already
  // passed, it could break the heap order, and the tree could degrade to a
  // list.
  Halves SplitAround(Node* node, uint64_t page, Node** cut);
  Node* CutOwn(Node* node, uint64_t page);

  std::deque<Node> store_;  // never moved
  std::vector<Node*> free_;
  size_t runs_ = 0;
  size_t nodes_ = 0, made_ = 0;  // since it was last rebuilt
  uint64_t random_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_RUN_TREE_H_
