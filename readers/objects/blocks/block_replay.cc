#include "readers/objects/blocks/block_replay.h"

#include <algorithm>
#include <bit>

#include "absl/hash/hash.h"

namespace pymemrun {

bool IsSameProcess(const Header& run, const Header& dump) {
  return run.pid() == dump.pid() &&
         run.process_start_ticks() == dump.process_start_ticks() &&
         run.start_realtime_ns() == dump.start_realtime_ns();
}

// Some objects have a header before their address, such as that of the cycle
// collector. It is in the same block.
uint64_t BlockOf(const ObjectGraph& graph, NodeId node) {
  return graph.address(node) - graph.types()[graph.type(node)].head_bytes();
}

size_t BlockReplay::Hash::operator()(uint64_t address) const {
  return absl::HashOf(address);
}

// Times are stored in 31 bits: of longer runs their lowest bits are dropped.
BlockReplay::BlockReplay(const ObjectGraph* graph)
    : graph_(*graph),
      free_lists_(graph),
      until_us_(graph->facts().begin.time_us()),
      time_shift_(
          std::max(0, static_cast<int>(std::bit_width(until_us_)) - 31)),
      parts_(0, {graph}, {graph}),
      blocks_(size_t{graph->nodes()} + graph->besides().size()) {}

// Only addresses of the dump's objects matter: events of all other blocks find
// nothing and are dropped.
void BlockReplay::IndexParts() {
  is_indexed_ = true;
  parts_.reserve(graph_.objects() + graph_.besides().size());
  for (uint32_t part = 0; part < blocks_.size(); ++part) {
    if (part >= graph_.nodes() || !graph_.is_synthetic(part)) {
      parts_.insert(part);
    }
  }
}

void BlockReplay::OnHeader(const Header& header) {
  is_same_process_ = IsSameProcess(header, graph_.facts().header);
  own_bytes_ = is_same_process_ ? header.own_bytes() : 0;
  has_heap_events_ = header.heap() != HEAP_OFF;
  sampled_ = header.heap() == HEAP_SAMPLED;
}

void BlockReplay::OnHeapRates(const HeapRates& rates) {
  if (rates.mean_bytes() != 0) sampled_ = true;
  for (const HeapClass& of : rates.classes()) {
    if (of.probability() < 1) sampled_ = true;
  }
}

void BlockReplay::Inherit(const HeapEvent* events, size_t count) {
  for (size_t i = 0; i < count; ++i) Take(events[i]);
}

bool BlockReplay::OnHeap(const HeapEvent* events, size_t count) {
  has_heap_events_ = true;
  for (size_t i = 0; i < count && wants_more(); ++i) {
    if (events[i].time_us > until_us_) {
      is_done_ = true;
    } else {
      Take(events[i]);
    }
  }
  return wants_more();
}

// The last event of an address decides: the object of the dump is in the block
// that was allocated there last.
void BlockReplay::Take(const HeapEvent& event) {
  // No object is a mapping, or a part of one.
  if (event.allocator >= HEAP_MMAP || event.free_of != HeapFreeOf::kBlock) {
    return;
  }
  if (!is_indexed_) IndexParts();
  const auto found = parts_.find(event.address);
  if (found == parts_.end()) return;
  Block& block = blocks_[*found];
  block = Block();
  if (event.is_free || (event.stack == 0 && event.thread == 0)) return;
  block.origin = OriginOf(event);
  block.time = is_inherited_
                   ? kInherited
                   : static_cast<uint32_t>(event.time_us >> time_shift_);
}

uint32_t BlockReplay::OriginOf(const HeapEvent& event) {
  const auto [found, is_new] = origin_ids_.try_emplace(
      {event.stack, event.thread}, static_cast<uint32_t>(origins_.size()));
  if (is_new) origins_.push_back({event.stack, event.thread});
  return found->second;
}

// Swapping with empty tables frees memory; clear() would keep it.
void BlockReplay::Finish() {
  decltype(parts_)(0, {&graph_}, {&graph_}).swap(parts_);
  decltype(origin_ids_)().swap(origin_ids_);
}

std::optional<NodeAllocation> BlockReplay::OfPart(uint32_t part,
                                                  bool is_sure) const {
  const Block& block = blocks_[part];
  if (block.origin == 0) return std::nullopt;
  NodeAllocation allocation;
  allocation.stack = origins_[block.origin].stack;
  allocation.thread = origins_[block.origin].thread;
  allocation.is_sure = is_sure;
  if (block.time != kInherited) {
    allocation.time_us = uint64_t{block.time} << time_shift_;
  }
  return allocation;
}

// The object's own block is the best witness, unless it may come from a free
// list. Then the block beside it is, unless that may be reused, too.
std::optional<NodeAllocation> BlockReplay::Of(NodeId node) const {
  const auto own = OfPart(node, !free_lists_.MayHold(node));
  const uint32_t i = graph_.besides().Find(node);
  if (i == graph_.besides().size() || (own.has_value() && own->is_sure)) {
    return own;
  }
  auto beside = OfPart(graph_.nodes() + i,
                       !free_lists_.MayHoldBeside(node, graph_.besides()[i]));
  if (!beside.has_value()) return own;
  beside->is_beside = true;
  return beside->is_sure || !own.has_value() ? beside : own;
}

}  // namespace pymemrun
