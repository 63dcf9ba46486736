#include "readers/objects_heap/object_blocks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "readers/heap_in_rss/python_arenas.h"
#include "readers/objects_heap/block_replay.h"

namespace pymemrun {
namespace {

using Block = HeapModel::Block;

// What is beside an object has at least so many bytes.
constexpr uint64_t kLeastBeside = 8;
// An array's __sizeof__ may tell a little more than its large block has.
constexpr uint64_t kLargeBytes = 4096, kMostOver = 128;
// Of an object from before tracing so much at most is sure to lie there.
constexpr uint64_t kMostInline = 512;
// tp_basicsize of these, in all versions.
constexpr uint64_t kListBytes = 40, kDictBytes = 48;
// Before objects whose attributes need no dictionary: that and the header of
// the cycle collector.
constexpr uint32_t kHeadOfValues = 32;

class BlockFinder {
 public:
  BlockFinder(const HeapModel& heap, const ObjectGraph& graph,
              const std::vector<bool>& gone)
      : heap_(heap),
        graph_(graph),
        gone_(gone),
        has_values_(IsPython(graph, "3.11.") || IsPython(graph, "3.12.")) {}

  BlocksOfObjects Find() {
    FindWanted();
    FindNeeds();
    FindSpares();
    for (auto& [size, needs] : needs_) Match(size, &needs);
    Divide();
    return std::move(found_);
  }

 private:
  // An object that has so much beside it, or a block without an object.
  struct Side {
    uint32_t sequence;
    bool is_block;
    bool is_gone;      // of an object
    uint64_t address;  // of a block
  };
  using BySize = absl::btree_map<uint64_t, std::vector<Side>>;

  const Block* BlockAt(NodeId node) const {
    const auto found = heap_.blocks().find(BlockOf(graph_, node));
    return found == heap_.blocks().end() ? nullptr : &found->second;
  }
  // What the object has beyond that block.
  uint64_t Beside(NodeId node, const Block& block) const {
    const uint64_t bytes = graph_.size_bytes(node);
    return bytes >= block.size + kLeastBeside ? bytes - block.size : 0;
  }
  // The same of an object whose block is not known: CPython keeps some lists
  // and dicts for the next ones, also from before tracing.
  uint64_t BesideUnknown(NodeId node) const {
    const std::string& type = graph_.type_name(graph_.type(node));
    Block block = {};
    block.size = graph_.types()[graph_.type(node)].head_bytes();
    if (type == "list") {
      block.size += kListBytes;
    } else if (type == "dict") {
      block.size += kDictBytes;
    } else {
      return 0;
    }
    return Beside(node, block);
  }
  template <typename Visit>
  void ForEachObject(Visit visit) const {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (!graph_.is_synthetic(node)) visit(node, BlockAt(node));
    }
  }

  // Whether its attributes lie in a block that was allocated right after it,
  // and that is no part of its size: in CPython 3.11 and 3.12, unless it has a
  // dictionary.
  bool HasValues(NodeId node) const {
    if (!has_values_ ||
        graph_.types()[graph_.type(node)].head_bytes() < kHeadOfValues) {
      return false;
    }
    for (uint32_t i = 0; i < graph_.degree(node); ++i) {
      if (graph_.kind(graph_.first_edge(node) + i) == EDGE_DICT) return false;
    }
    return true;
  }
  static bool IsPython(const ObjectGraph& graph, absl::string_view version) {
    return absl::StartsWith(graph.facts().header.python_version(), version);
  }
  // What its thread allocates next.
  std::pair<uint32_t, uint32_t> After(const Block& block) const {
    return {heap_.sources()[block.source].key.thread, block.sequence + 1};
  }

  void FindWanted();
  void FindNeeds();
  void FindSpares();
  void Match(uint64_t size, std::vector<Side>* needs);
  void Divide();
  void AddUnknown(NodeId node);
  BlockRange RangeOf(uint64_t address, const Block& block) const {
    const HeapAllocator allocator = heap_.sources()[block.source].key.allocator;
    return {address, address + block.size,
            PythonArenas::IsSmall(allocator, block.size)};
  }

  const HeapModel& heap_;
  const ObjectGraph& graph_;
  const std::vector<bool>& gone_;
  const bool has_values_;
  BySize needs_, spares_;
  // Of blocks that hold an object, and of those that go.
  absl::flat_hash_set<uint64_t> held_, going_;
  // Of values: thread and sequence, and whether the object goes.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, bool> values_;
  BlocksOfObjects found_;
};

// Sizes of what lies beside objects that go.
void BlockFinder::FindWanted() {
  ForEachObject([this](NodeId node, const Block* block) {
    if (block == nullptr) return AddUnknown(node);
    held_.insert(BlockOf(graph_, node));
    if (HasValues(node)) values_[After(*block)] = gone_[node];
    if (!gone_[node]) return;
    const uint64_t beside = Beside(node, *block);
    found_.bytes += block->size + beside;
    going_.insert(BlockOf(graph_, node));
    if (beside > 0) needs_[beside];
  });
}

void BlockFinder::AddUnknown(NodeId node) {
  const uint64_t bytes = graph_.size_bytes(node);
  const uint64_t beside = BesideUnknown(node);
  const uint64_t sure = std::clamp<uint64_t>(bytes - beside, 1, kMostInline);
  const uint64_t begin = BlockOf(graph_, node);
  if (begin > UINT64_MAX - sure) return;
  const BlockRange range = {begin, begin + sure, true};
  if (!gone_[node]) return found_.staying.push_back(range);
  found_.going.push_back(range);
  found_.bytes += bytes;
  if (beside > 0) needs_[beside];
  found_.unplaced_bytes += bytes - beside - std::min(bytes - beside, sure);
}

void BlockFinder::FindNeeds() {
  ForEachObject([this](NodeId node, const Block* block) {
    const uint64_t beside =
        block == nullptr ? BesideUnknown(node) : Beside(node, *block);
    const auto wanted = needs_.find(beside);
    if (wanted == needs_.end()) return;
    const uint32_t sequence = block == nullptr ? 0 : block->sequence;
    wanted->second.push_back({sequence, false, gone_[node], 0});
  });
}

void BlockFinder::FindSpares() {
  for (const auto& [address, block] : heap_.blocks()) {
    if (held_.contains(address)) continue;
    const HeapSource::Key& key = heap_.sources()[block.source].key;
    const auto values = values_.find({key.thread, block.sequence});
    if (values != values_.end() && key.allocator == HEAP_MEM) {
      if (!values->second) continue;
      going_.insert(address);
      found_.bytes += block.size;
      continue;
    }
    const auto wanted = needs_.lower_bound(block.size);
    if (wanted == needs_.end()) continue;
    const uint64_t over = wanted->first - block.size;
    if (over > (wanted->first >= kLargeBytes ? kMostOver : 0)) continue;
    spares_[block.size].push_back({block.sequence, true, false, address});
  }
}

// Each block is that of the last object before it that has none yet. Objects
// that are left, whose own blocks are newer, get what blocks are left.
void BlockFinder::Match(uint64_t size, std::vector<Side>* needs) {
  auto spares = spares_.upper_bound(size);
  if (spares != spares_.begin()) --spares;
  const uint64_t least = size >= kLargeBytes ? size - kMostOver : size;
  std::vector<Side> sides = std::move(*needs);
  if (spares != spares_.end() && spares->first <= size &&
      spares->first >= least) {
    sides.insert(sides.end(), spares->second.begin(), spares->second.end());
    spares->second.clear();
  }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::pair(a.sequence, a.address) < std::pair(b.sequence, b.address);
  });
  std::vector<Side> objects, blocks;
  const auto give = [this](const Side& object, const Side& block) {
    if (object.is_gone) going_.insert(block.address);
  };
  for (const Side& side : sides) {
    if (!side.is_block) {
      objects.push_back(side);
    } else if (objects.empty()) {
      blocks.push_back(side);
    } else {
      give(objects.back(), side);
      objects.pop_back();
    }
  }
  for (const Side& object : objects) {
    if (!blocks.empty()) {
      give(object, blocks.back());
      blocks.pop_back();
    } else if (object.is_gone) {
      found_.unplaced_bytes += size;
    }
  }
}

void BlockFinder::Divide() {
  for (const auto& [address, block] : heap_.blocks()) {
    if (block.size == 0 || address > UINT64_MAX - block.size) continue;
    (going_.contains(address) ? found_.going : found_.staying)
        .push_back(RangeOf(address, block));
  }
  for (const auto& [begin, part] : heap_.mappings().parts()) {
    if (part.end > begin) found_.staying.push_back({begin, part.end, false});
  }
}

}  // namespace

BlocksOfObjects FindBlocks(const HeapModel& heap, const ObjectGraph& graph,
                           const std::vector<bool>& gone) {
  return BlockFinder(heap, graph, gone).Find();
}

}  // namespace pymemrun
