#include "readers/replay/resident/page_map.h"

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

using Run = PageMap::Run;

// Adds a run to sorted runs, as PageMap::Put(): a page within a run cuts it in
// two, and neighbours that match are joined.
void PutAmong(const Run& run, std::vector<Run>* runs) {
  auto at = FirstRunAbove(runs, run.begin);
  if (at != runs->end() && at->begin <= run.begin) {
    const Run old = *at;
    Run right = old, left = old;
    left.end = run.begin;
    right.begin = run.end;
    *at = run;
    if (right.begin < right.end) at = runs->insert(at + 1, right) - 1;
    if (left.begin < left.end) at = runs->insert(at, left) + 1;
  } else {
    at = runs->insert(at, run);
  }
  if (at + 1 != runs->end() && at->GoesOnIn(*(at + 1))) {
    at->end = (at + 1)->end;
    at = runs->erase(at + 1) - 1;
  }
  if (at != runs->begin() && (at - 1)->GoesOnIn(*at)) {
    (at - 1)->end = at->end;
    runs->erase(at);
  }
}

}  // namespace

// Finds the node whose runs contain the page, or are beside it. Most events
// touch a page near the last one, so the node found last is tried first.
void PageMap::Find(uint64_t page) const {
  if (found_ != nullptr && page >= found_begin_ && page < found_end_) return;
  CloseFound();
  uint64_t low = 0, high = UINT64_MAX;
  Node* at = root_;
  path_.clear();
  // Down the search tree. `low` and `high` are the nearest runs of the
  // ancestors: no run outside this node is between them.
  while (true) {
    path_.push_back(at);
    PageRunTree::Push(at);
    const Node *left = at->left, *right = at->right;
    const uint64_t begin = at->own_first, end = at->own_last;
    if (page < begin && left != nullptr && page < left->last) {
      high = begin;
      at = at->left;
    } else if (page >= end && right != nullptr && page >= right->first) {
      low = end;
      at = at->right;
    } else {
      found_ = at;
      found_begin_ = left == nullptr ? low : left->last;
      found_end_ = right == nullptr ? high : right->first;
      return;
    }
  }
}

// Sums are corrected once for many changes of one node, from the node up to the
// root.
void PageMap::Settle() const {
  if (!changed_) return;
  changed_ = false;
  PageRunTree::PullRuns(found_);
  for (auto node = path_.rbegin() + 1; node != path_.rend(); ++node) {
    PageRunTree::Pull(*node);
  }
}

void PageMap::CloseFound() const {
  Settle();
  found_ = nullptr;
}

Run PageMap::At(uint64_t page) const {
  const Run run = After(page);
  return run.begin <= page ? run : Run();
}

// If no run of the node starts below the page, the last run of the node before
// it does: that run ends at found_begin_.
Run PageMap::Before(uint64_t page) const {
  if (root_ == nullptr) return {};
  Find(page);
  const std::vector<Run>& runs = found_->runs;
  const auto above = std::lower_bound(
      runs.begin(), runs.end(), page,
      [](const Run& run, uint64_t at) { return run.begin < at; });
  if (above != runs.begin()) return *(above - 1);
  return found_begin_ == 0 ? Run() : After(found_begin_ - 1);
}

Run PageMap::After(uint64_t page) const {
  if (root_ == nullptr) return {};
  Find(page);
  const auto run = FirstRunAbove(&found_->runs, page);
  if (run != found_->runs.end()) return *run;
  return found_end_ == UINT64_MAX ? Run() : After(found_end_);
}

// Only nodes that the ends of the range cut are opened: logarithmic time.
uint64_t PageMap::Covered(uint64_t begin, uint64_t end) const {
  Settle();
  uint64_t pages = 0;
  std::vector<Node*> open = {root_};
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    if (node == nullptr || node->last <= begin || node->first >= end) continue;
    // The whole subtree is in the range: its sum is enough.
    if (node->first >= begin && node->last <= end) {
      pages += node->all.pages;
      continue;
    }
    PageRunTree::Push(node);
    for (const Run& run : node->runs) {
      const uint64_t from = std::max(run.begin, begin);
      const uint64_t to = std::min(run.end, end);
      if (from < to) pages += to - from;
    }
    open.push_back(node->left);
    open.push_back(node->right);
  }
  return pages;
}

// Finds the parts of a range that are not resident.
class PageMap::GapFinder {
 public:
  GapFinder(uint64_t begin, uint64_t end, size_t most)
      : at_(begin), end_(end), most_(most) {}

  void Look(Node* node) {
    if (node == nullptr || node->last <= at_ || node->first >= end_) return;
    // A subtree without gaps is passed as a whole.
    if (node->all.pages == node->last - node->first) {
      return Skip(node->first, node->last);
    }
    if (gaps_.size() >= most_) return;
    PageRunTree::Push(node);
    Look(node->left);
    for (const Run& run : node->runs) Skip(run.begin, run.end);
    Look(node->right);
  }
  std::vector<Range> Take() {
    Skip(end_, end_);
    return std::move(gaps_);
  }

 private:
  // These pages are resident.
  void Skip(uint64_t begin, uint64_t end) {
    const uint64_t gap_end = std::min(begin, end_);
    if (at_ < gap_end && gaps_.size() < most_) gaps_.push_back({at_, gap_end});
    at_ = std::max(at_, end);
  }

  uint64_t at_;
  const uint64_t end_;
  const size_t most_;
  std::vector<Range> gaps_;
};

std::vector<PageMap::Range> PageMap::Gaps(uint64_t begin, uint64_t end,
                                          size_t most) const {
  Settle();
  GapFinder finder(begin, end, most);
  finder.Look(root_);
  return finder.Take();
}

void PageMap::ForEach(VisitRun visit) const { PageRunTree::Walk(root_, visit); }

void PageMap::ForEachNew(uint64_t begin, uint64_t end,
                         VisitRunWhile visit) const {
  Settle();
  PageRunTree::WalkNew(root_, begin, end, visit);
}

// Most runs change only the vector of one node. A node that becomes too full is
// cut by a split and a merge of the tree.
bool PageMap::Put(const Run& run) {
  // A page within a run makes three runs of it.
  if (runs() + 2 > max_runs_) return false;
  if (root_ == nullptr) {
    root_ = tree_.NewNode({run});
    return true;
  }
  Find(run.begin);
  std::vector<Run>& runs = found_->runs;
  const size_t before = runs.size();
  PutAmong(run, &runs);
  tree_.CountRuns(runs.size() - before);
  changed_ = true;
  if (runs.size() <= PageRunTree::kNodeRuns) return true;
  // Pages that come in ascending order leave full nodes behind, instead of
  // half-full ones.
  const bool at_end = runs.back().begin <= run.begin;
  const uint64_t cut = at_end ? runs.back().begin : runs[runs.size() / 2].begin;
  CloseFound();
  const PageRunTree::Halves halves = tree_.Split(root_, cut);
  root_ = PageRunTree::Merge(halves.left, halves.right);
  return true;
}

void PageMap::Change(uint64_t begin, uint64_t end,
                     absl::FunctionRef<Node*(Node*)> change) {
  // Three parts: below the range, the range, above it.
  CloseFound();
  const PageRunTree::Halves low = tree_.Split(root_, begin);
  const PageRunTree::Halves high = tree_.Split(low.right, end);
  Node* const middle = high.left == nullptr ? nullptr : change(high.left);
  root_ = PageRunTree::Merge(PageRunTree::Merge(low.left, middle), high.right);
  root_ = tree_.RebuildIfSparse(root_);
}

void PageMap::Remove(uint64_t begin, uint64_t end, VisitRun visit) {
  Change(begin, end, [&](Node* node) { return tree_.FreeAll(node, visit); });
}

// A Residency asks for each gap between its ranges, and mostly nothing is
// there. This search is cheaper than cutting the gap out of the tree.
bool PageMap::HasOlder(uint64_t begin, uint64_t end, uint64_t before_us) const {
  Settle();
  std::vector<Node*> open = {root_};
  while (!open.empty()) {
    Node* const node = open.back();
    open.pop_back();
    if (node == nullptr || node->last <= begin || node->first >= end ||
        node->all.oldest >= before_us) {
      continue;
    }
    // The whole subtree is in the range, and its oldest run is old enough.
    if (node->first >= begin && node->last <= end) return true;
    PageRunTree::Push(node);
    for (const Run& run : node->runs) {
      if (run.end > begin && run.begin < end && run.came_us < before_us) {
        return true;
      }
    }
    open.push_back(node->left);
    open.push_back(node->right);
  }
  return false;
}

void PageMap::RemoveOlder(uint64_t begin, uint64_t end, uint64_t before_us,
                          VisitRun visit) {
  if (!HasOlder(begin, end, before_us)) return;
  Change(begin, end,
         [&](Node* node) { return tree_.FreeOlder(node, before_us, visit); });
}

// The source is cut out before the target is cleared. So a damaged file's move
// onto an overlapping range leaves no page twice.
void PageMap::Move(uint64_t begin, uint64_t end, uint64_t to, uint64_t came_us,
                   VisitRun visit) {
  Node* moved = nullptr;
  Change(begin, end, [&](Node* node) -> Node* {
    moved = node;
    return nullptr;
  });
  Remove(to, to + (end - begin), visit);
  if (moved == nullptr) return;
  // The moved subtree is shifted as a whole; its runs are not visited.
  PageRunTree::Apply(to - begin, came_us, /*aged=*/false, moved);
  const PageRunTree::Halves halves = tree_.Split(root_, to);
  root_ =
      PageRunTree::Merge(PageRunTree::Merge(halves.left, moved), halves.right);
}

void PageMap::ReplaceSampled(uint64_t begin, uint64_t end, NewRunOwner owner) {
  Change(begin, end, [&](Node* node) {
    PageRunTree::ReplaceSampled(node, owner);
    return node;
  });
}

void PageMap::Age(uint64_t before_us, uint64_t mark_us) {
  CloseFound();
  tree_.Age(root_, before_us, mark_us);
  root_ = tree_.RebuildIfSparse(root_);
}

}  // namespace pymemrun
