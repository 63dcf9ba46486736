#include "readers/replay/resident/page_run_tree.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace pymemrun {
namespace {

// Adds a run at the end, or extends the last one by it.
void Append(const PageRun& run, std::vector<PageRun>* runs) {
  if (!runs->empty() && runs->back().GoesOnIn(run)) {
    runs->back().end = run.end;
  } else {
    runs->push_back(run);
  }
}

// The time that an aged run keeps: only whether it came after the mark.
uint64_t AgedTime(uint64_t came_us, uint64_t mark_us) {
  return came_us > mark_us && mark_us != 0 ? mark_us + 1 : 0;
}

}  // namespace

std::vector<PageRun>::iterator FirstRunAbove(std::vector<PageRun>* runs,
                                             uint64_t page) {
  return std::upper_bound(
      runs->begin(), runs->end(), page,
      [](uint64_t at, const PageRun& run) { return at < run.end; });
}

// The seed is random: if a crafted file could predict the priorities, it could
// turn the tree into a list.
PageRunTree::PageRunTree() {
  if (getentropy(&random_, sizeof random_) != 0) {
    random_ = reinterpret_cast<uintptr_t>(this);
  }
  random_ |= 1;
}

PageRunTree::Node* PageRunTree::NewNode(std::vector<PageRun> runs) {
  Node* node;
  if (free_.empty()) {
    node = &store_.emplace_back();
  } else {
    node = free_.back();
    free_.pop_back();
    *node = Node();
  }
  // Marsaglia's xorshift64.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  runs_ += runs.size();
  node->runs = std::move(runs);
  node->priority = random_;
  PullRuns(node);
  ++nodes_;
  ++made_;
  return node;
}

void PageRunTree::Free(Node* node) {
  node->runs = std::vector<PageRun>();
  free_.push_back(node);
  --nodes_;
}

void PageRunTree::Apply(uint64_t shift, uint64_t came_us, bool aged,
                        Node* node) {
  if (node == nullptr) return;
  // The sums change at once; the runs wait for Push(). Pages wrap modulo 2^64,
  // so a move to lower addresses is an addition, too.
  for (uint64_t* page :
       {&node->own_first, &node->own_last, &node->first, &node->last}) {
    *page += shift;
  }
  node->shift += shift;
  if (came_us == kKeep) return;
  node->came_us = came_us;
  node->aged = aged;
  for (Sums* sums : {&node->own, &node->all}) {
    sums->oldest = came_us;
    sums->oldest_new = aged ? kKeep : came_us;
  }
}

// To be called before a node's runs are used, or its children visited. Sums
// never wait for it.
void PageRunTree::Push(Node* node) {
  if (node->shift == 0 && node->came_us == kKeep) return;
  for (PageRun& run : node->runs) {
    run.begin += node->shift;
    run.end += node->shift;
    if (node->came_us == kKeep) continue;
    run.came_us = node->came_us;
    run.aged = node->aged;
  }
  Apply(node->shift, node->came_us, node->aged, node->left);
  Apply(node->shift, node->came_us, node->aged, node->right);
  node->shift = 0;
  node->came_us = kKeep;
}

void PageRunTree::Sums::Add(const Sums& other) {
  pages += other.pages;
  oldest = std::min(oldest, other.oldest);
  oldest_new = std::min(oldest_new, other.oldest_new);
  sampled |= other.sampled;
  loose |= other.loose;
}

void PageRunTree::Pull(Node* node) {
  node->first = node->own_first;
  node->last = node->own_last;
  node->all = node->own;
  if (node->left != nullptr) {
    node->first = node->left->first;
    node->all.Add(node->left->all);
  }
  if (node->right != nullptr) {
    node->last = node->right->last;
    node->all.Add(node->right->all);
  }
}

void PageRunTree::PullRuns(Node* node) {
  node->own_first = node->runs.front().begin;
  node->own_last = node->runs.back().end;
  node->own = Sums();
  const PageRun* last = nullptr;
  for (const PageRun& run : node->runs) {
    node->own.Add({run.pages(), run.came_us, run.aged ? kKeep : run.came_us,
                   run.sampled, last != nullptr && last->MayGoOnIn(run)});
    last = &run;
  }
  Pull(node);
}

PageRunTree::Halves PageRunTree::Split(Node* node, uint64_t page) {
  Node* cut = nullptr;
  const Halves halves = SplitAround(node, page, &cut);
  return {halves.left, Merge(cut, halves.right)};
}

PageRunTree::Halves PageRunTree::SplitAround(Node* node, uint64_t page,
                                             Node** cut) {
  if (node == nullptr) return {nullptr, nullptr};
  // Subtrees entirely on one side stay whole. So only the nodes on one path are
  // visited and summed anew.
  if (node->last <= page) return {node, nullptr};
  if (node->first >= page) return {nullptr, node};
  Push(node);
  if (page <= node->own_first) {
    const Halves halves = SplitAround(node->left, page, cut);
    node->left = halves.right;
    Pull(node);
    return {halves.left, node};
  }
  if (page >= node->own_last) {
    const Halves halves = SplitAround(node->right, page, cut);
    node->right = halves.left;
    Pull(node);
    return {node, halves.right};
  }
  *cut = CutOwn(node, page);
  Node* const right = node->right;
  node->right = nullptr;
  PullRuns(node);
  return {node, right};
}

// `page` is within the node's own runs. Moves the upper ones to a new node,
// which is returned.
PageRunTree::Node* PageRunTree::CutOwn(Node* node, uint64_t page) {
  const auto cut = FirstRunAbove(&node->runs, page);
  std::vector<PageRun> upper(cut, node->runs.end());
  runs_ -= upper.size();
  node->runs.erase(cut, node->runs.end());
  if (upper.front().begin < page) {
    node->runs.push_back(upper.front());
    node->runs.back().end = page;
    upper.front().begin = page;
    ++runs_;
  }
  return NewNode(std::move(upper));
}

PageRunTree::Node* PageRunTree::Merge(Node* left, Node* right) {
  if (left == nullptr || right == nullptr) {
    // The root with the higher priority stays the root: this keeps the heap
    // order.
    return left == nullptr ? right : left;
  }
  if (left->priority >= right->priority) {
    Push(left);
    left->right = Merge(left->right, right);
    Pull(left);
    return left;
  }
  Push(right);
  right->left = Merge(left, right->left);
  Pull(right);
  return right;
}

// Recursion is as deep as the tree: logarithmic, as priorities are random.
void PageRunTree::Walk(Node* node, VisitRun visit) {
  if (node == nullptr) return;
  Push(node);
  Walk(node->left, visit);
  for (const PageRun& run : node->runs) visit(run);
  Walk(node->right, visit);
}

bool PageRunTree::WalkNew(Node* node, uint64_t begin, uint64_t end,
                          VisitRunWhile visit) {
  if (node == nullptr || node->all.oldest_new == kKeep || node->last <= begin ||
      node->first >= end) {
    // The sums let it skip subtrees that have aged entirely, or are outside the
    // range.
    return true;
  }
  Push(node);
  if (!WalkNew(node->left, begin, end, visit)) return false;
  for (const PageRun& run : node->runs) {
    if (run.aged || run.end <= begin || run.begin >= end) continue;
    if (!visit(run)) return false;
  }
  return WalkNew(node->right, begin, end, visit);
}

PageRunTree::Node* PageRunTree::FreeAll(Node* node, VisitRun visit) {
  if (node == nullptr) return nullptr;
  Push(node);
  FreeAll(node->left, visit);
  for (const PageRun& run : node->runs) visit(run);
  runs_ -= node->runs.size();
  FreeAll(node->right, visit);
  Free(node);
  return nullptr;
}

PageRunTree::Node* PageRunTree::FreeOlder(Node* node, uint64_t before_us,
                                          VisitRun visit) {
  // `oldest` is the least time in the subtree: if even that is new enough,
  // nothing goes.
  if (node == nullptr || node->all.oldest >= before_us) return node;
  Push(node);
  node->left = FreeOlder(node->left, before_us, visit);
  node->right = FreeOlder(node->right, before_us, visit);
  std::vector<PageRun>& runs = node->runs;
  const size_t count = runs.size();
  runs.erase(std::remove_if(runs.begin(), runs.end(),
                            [&](const PageRun& run) {
                              if (run.came_us >= before_us) return false;
                              visit(run);
                              return true;
                            }),
             runs.end());
  runs_ -= count - runs.size();
  if (!runs.empty()) {
    PullRuns(node);
    return node;
  }
  // The node lost all its runs. Its children take its place.
  Node* const rest = Merge(node->left, node->right);
  Free(node);
  return rest;
}

// Subtrees without sampled runs are passed over.
void PageRunTree::ReplaceSampled(Node* node, NewRunOwner owner) {
  if (node == nullptr || !node->all.sampled) return;
  Push(node);
  ReplaceSampled(node->left, owner);
  for (PageRun& run : node->runs) {
    if (!run.sampled) continue;
    run.owner = owner(run);
    run.sampled = false;
  }
  ReplaceSampled(node->right, owner);
  PullRuns(node);
}

void PageRunTree::Age(Node* node, uint64_t before_us, uint64_t mark_us) {
  if (node == nullptr || node->all.oldest_new >= before_us) return;
  // All runs of the subtree have one pending time, and none can be joined: age
  // them by another pending time.
  if (node->came_us != kKeep && !node->all.loose) {
    return Apply(0, AgedTime(node->came_us, mark_us), true, node);
  }
  Push(node);
  Age(node->left, before_us, mark_us);
  std::vector<PageRun> runs;
  runs.reserve(node->runs.size());
  for (PageRun run : node->runs) {
    if (!run.aged && run.came_us < before_us) {
      run.came_us = AgedTime(run.came_us, mark_us);
      run.aged = true;
    }
    Append(run, &runs);
  }
  runs_ -= node->runs.size() - runs.size();
  node->runs.swap(runs);
  Age(node->right, before_us, mark_us);
  PullRuns(node);
}

PageRunTree::Node* PageRunTree::RebuildIfSparse(Node* root) {
  // Small trees are not worth it. The constants keep a node at four runs or
  // more on average. A rebuild costs as much as making half of the nodes did.
  if (nodes_ < 64 || runs_ > 4 * nodes_ || made_ < nodes_ / 2) return root;
  std::vector<PageRun> all;
  Walk(root, [&all](const PageRun& run) { Append(run, &all); });
  FreeAll(root, [](const PageRun&) {});
  root = nullptr;
  for (size_t i = 0; i < all.size(); i += kNodeRuns) {
    const size_t end = std::min(i + kNodeRuns, all.size());
    root = Merge(root, NewNode({all.begin() + i, all.begin() + end}));
  }
  made_ = 0;
  return root;
}

}  // namespace pymemrun
