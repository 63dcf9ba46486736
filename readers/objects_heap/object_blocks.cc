#include "readers/objects_heap/object_blocks.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "readers/heap_in_rss/python_arenas.h"
#include "readers/objects_heap/block_replay.h"

namespace pymemrun {
namespace {

using Block = HeapModel::Block;

// What an object has in further blocks comes to so many bytes at least: a
// `__sizeof__` may say a little more than was asked for.
constexpr uint64_t kLeastFurther = 8;
// Of an object from before tracing so much at most is sure to lie there.
constexpr uint64_t kMostInline = 512;

class BlockFinder {
 public:
  BlockFinder(const HeapModel& heap, const ObjectGraph& graph,
              const std::vector<bool>& gone)
      : heap_(heap), graph_(graph), gone_(gone) {}

  BlocksOfObjects Find() {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (!graph_.is_synthetic(node)) {
        AddObject(node, graph_.besides().Of(node));
      }
    }
    Divide();
    return std::move(found_);
  }

 private:
  const Block* BlockAt(uint64_t address) const {
    const auto found = heap_.blocks().find(address);
    return found == heap_.blocks().end() ? nullptr : &found->second;
  }
  void AddObject(NodeId node, const BesideBlock& beside) {
    const bool is_gone = gone_[node];
    const uint64_t bytes = graph_.size_bytes(node);
    const uint64_t own = bytes - std::min(bytes, beside.bytes);
    AddPart(BlockOf(graph_, node), own, kMostInline, is_gone);
    if (beside.bytes > 0 && !AddMapping(node, beside)) {
      AddPart(beside.address, beside.bytes, beside.bytes, is_gone);
    }
  }
  // Of an mmap.mmap. Of its mapping the dump has the resident bytes alone.
  bool AddMapping(NodeId node, const BesideBlock& beside) {
    if (BlockAt(beside.address) != nullptr ||
        beside.address > UINT64_MAX - beside.bytes) {
      return false;
    }
    const auto& parts = heap_.mappings().parts();
    const bool is_known = parts.find(beside.address) != parts.end();
    if (!is_known && graph_.type_name(graph_.type(node)) != "mmap.mmap") {
      return false;
    }
    const bool is_gone = gone_[node];
    if (!is_known) {
      (is_gone ? found_.going : found_.staying)
          .push_back({beside.address, beside.address + beside.bytes, false,
                      /*is_mapping=*/true});
    } else if (is_gone) {
      going_.insert(beside.address);
    }
    if (is_gone) found_.bytes += beside.bytes;
    return true;
  }
  // Of its `bytes` at most `sure` are sure to lie there if the block is not
  // known.
  void AddPart(uint64_t address, uint64_t bytes, uint64_t sure, bool is_gone) {
    if (const Block* const block = BlockAt(address)) {
      if (!is_gone) return;
      going_.insert(address);
      const uint64_t further =
          bytes >= block->size + kLeastFurther ? bytes - block->size : 0;
      found_.bytes += block->size + further;
      found_.unplaced_bytes += further;
      return;
    }
    const uint64_t placed = std::clamp<uint64_t>(bytes, 1, sure);
    if (address > UINT64_MAX - placed) return;
    (is_gone ? found_.going : found_.staying)
        .push_back({address, address + placed, placed <= kMostInline});
    if (!is_gone) return;
    found_.bytes += bytes;
    found_.unplaced_bytes += bytes - std::min(bytes, placed);
  }
  void Divide() {
    for (const auto& [address, block] : heap_.blocks()) {
      if (block.size == 0 || address > UINT64_MAX - block.size) continue;
      const HeapAllocator allocator =
          heap_.sources()[block.source].key.allocator;
      (going_.contains(address) ? found_.going : found_.staying)
          .push_back({address, address + block.size,
                      PythonArenas::IsSmall(allocator, block.size)});
    }
    for (const auto& [begin, part] : heap_.mappings().parts()) {
      if (part.end <= begin) continue;
      (going_.contains(begin) ? found_.going : found_.staying)
          .push_back({begin, part.end, false, /*is_mapping=*/true});
    }
  }

  const HeapModel& heap_;
  const ObjectGraph& graph_;
  const std::vector<bool>& gone_;
  absl::flat_hash_set<uint64_t> going_;  // blocks, and mappings
  BlocksOfObjects found_;
};

}  // namespace

BlocksOfObjects FindBlocks(const HeapModel& heap, const ObjectGraph& graph,
                           const std::vector<bool>& gone) {
  return BlockFinder(heap, graph, gone).Find();
}

}  // namespace pymemrun
