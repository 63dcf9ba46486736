#include "readers/replay/gil/off_gil_tree.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "readers/replay/gil/gil_tables.h"

namespace pymemrun {
namespace {

constexpr TreeMeasure kWaits = {TreeUnit::kNanos, "waiting_s", "waits s",
                                "waits", "waits"};
constexpr char kNoStack[] = "<no stack>";
// kBoth: the most holders whose stacks are shown below waiters' stacks, those
// most waited for. Each is a tree of its own.
constexpr size_t kMostJoined = size_t{1} << 14;
constexpr char kOtherHolders[] = "<other holders>";

bool IsThread(uint32_t holder) {
  return holder != GilReplay::kHandover && holder != GilReplay::kForgotten;
}

bool HasStack(uint32_t stack) {
  return stack != 0 && stack != WaitStacks::kShort;
}

}  // namespace

OffGilTree::OffGilTree(const WaitStacks* replay, Options options)
    : replay_(*replay),
      options_(options),
      tree_(GroupBy::kLine, &replay->index(), kWaits) {
  if (!options.keep_imports && !options.inverted) tree_.FoldImports();
}

uint32_t OffGilTree::Root(std::string name) {
  return options_.merge_threads ? 0 : tree_.NamedChild(0, std::move(name));
}

// The node of the waiter's stack. Waits without a stack have a named node,
// which says why.
uint32_t OffGilTree::WaiterNode(const WaitStacks::Key& key) {
  const uint32_t root =
      Root(std::string(replay_.index().LatestThreadLabel(key.waiter)));
  if (HasStack(key.stack)) {
    return tree_.NodeBelow(root, key.stack, options_.inverted);
  }
  return tree_.NamedChild(
      root,
      key.stack == 0
          ? kNoStack
          : absl::StrFormat("<waits under %g ms>",
                            static_cast<double>(replay_.min_wait_ns()) / 1e6));
}

// `root`: the node of a thread. A holder that is not a thread has no stack. The
// C function that the innermost line called is one frame more.
uint32_t OffGilTree::HolderNode(const WaitStacks::Key& key, uint32_t root) {
  if (!IsThread(key.holder)) return root;
  if (key.place.stack == 0) return tree_.NamedChild(root, kNoStack);
  const std::string called(replay_.FunctionName(key.place.function));
  if (called.empty()) {
    return tree_.NodeBelow(root, key.place.stack, options_.inverted);
  }
  return options_.inverted
             ? tree_.NodeBelow(tree_.NamedChild(root, called), key.place.stack,
                               true)
             : tree_.NamedChild(tree_.NodeBelow(root, key.place.stack, false),
                                called);
}

// kBoth puts the holder's stack below that of the waiter: the tree may have a
// node for each pair of stacks.
uint32_t OffGilTree::NodeOf(const WaitStacks::Key& key, bool is_large) {
  if (options_.by == WaitsBy::kBoth && !is_large) {
    return tree_.NamedChild(WaiterNode(key), kOtherHolders);
  }
  const std::string holder = GilHolderName(replay_, key.holder);
  switch (options_.by) {
    case WaitsBy::kWaiter:
      return WaiterNode(key);
    case WaitsBy::kHolder:
      return HolderNode(key, IsThread(key.holder)
                                 ? Root(holder)
                                 : tree_.NamedChild(0, holder));
    default:
      return HolderNode(key,
                        tree_.NamedChild(WaiterNode(key),
                                         absl::StrCat("waits for ", holder)));
  }
}

// Largest first, so that the most important holders have their own trees, and
// sums are rounded alike in each run.
void OffGilTree::Add(ThreadFilter* keep) {
  using Entry = std::pair<WaitStacks::Key, WaitStacks::Sum>;
  std::vector<Entry> entries;
  for (const auto& entry : replay_.sums()) {
    if (keep->Keeps(entry.first.waiter)) entries.push_back(entry);
  }
  const auto order = [](const Entry& entry) {
    const WaitStacks::Key& key = entry.first;
    return std::make_tuple(~entry.second.ns, key.waiter, key.stack, key.holder,
                           key.place.stack, key.place.function);
  };
  std::sort(
      entries.begin(), entries.end(),
      [&](const Entry& a, const Entry& b) { return order(a) < order(b); });
  size_t count = 0;
  for (const auto& [key, sum] : entries) {
    tree_.Add(NodeOf(key, count++ < kMostJoined), static_cast<double>(sum.ns),
              static_cast<double>(sum.waits));
    waited_ns_ += sum.ns;
    const bool has_stack = options_.by == WaitsBy::kHolder
                               ? key.place.stack != 0 || !IsThread(key.holder)
                               : HasStack(key.stack);
    if (!has_stack) without_stack_ns_ += sum.ns;
  }
}

void OffGilTree::AddSleeps(uint32_t thread, const std::string& what,
                           uint64_t ns, uint64_t sleeps) {
  if (ns == 0) return;
  const uint32_t root =
      Root(std::string(replay_.index().LatestThreadLabel(thread)));
  tree_.Add(tree_.NamedChild(root, absl::StrCat("<", what, ">")),
            static_cast<double>(ns), static_cast<double>(sleeps));
  slept_ns_ += ns;
}

}  // namespace pymemrun
