// The search tree under PageMap: runs of pages in the order of addresses.
#ifndef PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_RUN_TREE_H_
#define PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_RUN_TREE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/functional/function_ref.h"

namespace pymemrun {

// Pages side by side with an owner (a number above 0) and when they came.
struct PageRun {
  uint64_t begin = 0, end = 0;  // pages
  uint64_t came_us = 0;
  uint32_t owner = 0;    // 0: there is no such run
  bool sampled = false;  // each page stands for several
  bool aged = false;     // when it came does not matter any more

  uint64_t pages() const { return end - begin; }
  // Whether `next`, right behind it, is more of the same.
  bool GoesOnIn(const PageRun& next) const {
    return end == next.begin && owner == next.owner &&
           came_us == next.came_us && sampled == next.sampled &&
           aged == next.aged;
  }
  // Whether it would be if both had come at one time.
  bool MayGoOnIn(const PageRun& next) const {
    return end == next.begin && owner == next.owner && sampled == next.sampled;
  }
};
using VisitRun = absl::FunctionRef<void(const PageRun&)>;
using VisitRunWhile = absl::FunctionRef<bool(const PageRun&)>;
using NewRunOwner = absl::FunctionRef<uint32_t(const PageRun&)>;

// The first run that ends above `page`.
std::vector<PageRun>::iterator FirstRunAbove(std::vector<PageRun>* runs,
                                             uint64_t page);

// Runs lie in nodes of up to 32, the nodes in a treap: a search tree by address
// and a heap by random priority. What is done to all runs of a subtree, moving
// it, is kept at its root until somebody goes below. Subtrees are handed
// around; null is one of nothing. Owns the nodes. Not thread safe.
class PageRunTree {
 public:
  static constexpr size_t kNodeRuns = 32;
  static constexpr uint64_t kKeep = UINT64_MAX;
  struct Sums {
    uint64_t pages = 0;
    uint64_t oldest = kKeep;      // came_us
    uint64_t oldest_new = kKeep;  // of what has not aged
    bool sampled = false;
    bool loose = false;  // in a node one run may go on in the next one

    void Add(const Sums& other);
  };
  struct Node {
    std::vector<PageRun> runs;  // never empty; as they are once it was pushed
    Node *left = nullptr, *right = nullptr;
    uint64_t priority = 0;
    // Where its runs begin and end, and those of the subtree; of both the sums.
    uint64_t own_first = 0, own_last = 0, first = 0, last = 0;
    Sums own, all;
    // To be done to all runs of it, modulo 2^64; kKeep: nothing.
    uint64_t shift = 0, came_us = kKeep;
    bool aged = false;  // with came_us
  };
  struct Halves {
    Node *left, *right;
  };

  PageRunTree();
  // A subtree of those, which lie side by side and are at most kNodeRuns.
  Node* NewNode(std::vector<PageRun> runs);
  // Moves all of it, and sets when it came, and whether that has aged, unless
  // it is kKeep.
  static void Apply(uint64_t shift, uint64_t came_us, bool aged, Node* node);
  // Does to the node and its children what was kept at it.
  static void Push(Node* node);
  // Sums up what the node says of its subtree: from its children's sums and its
  // own, or from its runs, which were changed.
  static void Pull(Node* node);
  static void PullRuns(Node* node);
  // Pages below `page` to the left.
  Halves Split(Node* node, uint64_t page);
  // REQUIRES: all of `left` lies below all of `right`.
  static Node* Merge(Node* left, Node* right);
  static void Walk(Node* node, VisitRun visit);
  // Those of a range that have not aged, until `visit` returns false. Returns
  // false if `visit` did.
  static bool WalkNew(Node* node, uint64_t begin, uint64_t end,
                      VisitRunWhile visit);
  // Each returns what is left of the subtree.
  Node* FreeAll(Node* node, VisitRun visit);
  Node* FreeOlder(Node* node, uint64_t before_us, VisitRun visit);
  static void ReplaceSampled(Node* node, NewRunOwner owner);
  // What was moved as a whole ages as a whole, unless runs of it become one.
  void Age(Node* node, uint64_t before_us, uint64_t mark_us);
  // The same with full nodes, where many are nearly empty and as many were made
  // as that takes apart.
  Node* RebuildIfSparse(Node* root);

  // In all subtrees.
  size_t runs() const { return runs_; }
  // A node's runs were changed by so many.
  void CountRuns(size_t change) { runs_ += change; }

 private:
  void Free(Node* node);  // it alone
  // The same as Split(), but a node that the page cuts loses its upper runs to
  // `cut`, which lies between the halves. Its priority is its own: below the
  // nodes that were passed on the way the tree would be no heap, and become a
  // list.
  Halves SplitAround(Node* node, uint64_t page, Node** cut);
  Node* CutOwn(Node* node, uint64_t page);

  std::deque<Node> store_;  // never moved
  std::vector<Node*> free_;
  size_t runs_ = 0;
  size_t nodes_ = 0, made_ = 0;  // since they were built anew
  uint64_t random_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_RESIDENT_PAGE_RUN_TREE_H_
