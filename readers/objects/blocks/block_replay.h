// Finds the blocks of a dump's objects in a run's heap events. Used by
// LoadAllocations().
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_BLOCK_REPLAY_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_BLOCK_REPLAY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "readers/objects/graph/free_lists.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/run/replay_visitor.h"

namespace pymemrun {

// Whether a run file and a dump are of the same process.
bool IsSameProcess(const Header& run, const Header& dump);

// The address of the block that has the object.
uint64_t BlockOf(const ObjectGraph& graph, NodeId node);

// Memory: 8 bytes for each node and each block beside one, and some 8 more
// while reading. It grows with the number of stacks, not with that of events.
// Times are exact in runs up to 35 minutes; in longer ones within one part in 2
// billion of the run. Not thread safe.
class BlockReplay final : public ReplayVisitor {
 public:
  // Reads up to the moment of the dump. `graph` must outlive the reading.
  explicit BlockReplay(const ObjectGraph* graph);

  void OnHeader(const Header& header) override;
  bool OnRows(const Row*, size_t) override { return wants_more(); }
  bool OnPages(const PageEntry*, size_t) override { return wants_more(); }
  bool OnHeap(const HeapEvent* events, size_t count) override;
  bool wants_inherited() const override { return true; }
  void Inherit(const HeapEvent* events, size_t count) override;
  void OnInherited() override { is_inherited_ = false; }
  void OnHeapRates(const HeapRates& rates) override;
  // Also releases what only reading needs.
  void Finish() override;

  // Whether the file is of the dump's process.
  bool is_same_process() const { return is_same_process_; }
  bool has_heap_events() const { return has_heap_events_; }
  uint64_t own_bytes() const { return own_bytes_; }  // memory of the tracer
  bool sampled() const { return sampled_; }
  std::optional<NodeAllocation> Of(NodeId node) const;

 private:
  struct Block {
    uint32_t origin = 0;  // into origins_; 0: unknown allocation
    uint32_t time = 0;    // us >> time_shift_
  };
  static constexpr uint32_t kInherited = 0xffffffff;
  struct Origin {
    uint32_t stack = 0, thread = 0;
  };

  // An index by address. A part is a node's own block, or, from nodes() on, a
  // block beside a node.
  struct Hash {
    using is_transparent = void;
    const ObjectGraph* graph;
    size_t operator()(uint32_t part) const {
      return (*this)(AddressOf(*graph, part));
    }
    size_t operator()(uint64_t address) const;
  };
  struct Same {
    using is_transparent = void;
    const ObjectGraph* graph;
    bool operator()(uint32_t a, uint32_t b) const {
      return AddressOf(*graph, a) == AddressOf(*graph, b);
    }
    bool operator()(uint32_t a, uint64_t b) const {
      return AddressOf(*graph, a) == b;
    }
  };
  static uint64_t AddressOf(const ObjectGraph& graph, uint32_t part) {
    return part < graph.nodes() ? BlockOf(graph, part)
                                : graph.besides()[part - graph.nodes()].address;
  }

  // Builds the index when the first heap event needs it.
  void IndexParts();
  // Returns nothing if the allocation is unknown.
  std::optional<NodeAllocation> OfPart(uint32_t part, bool is_sure) const;
  void Take(const HeapEvent& event);
  uint32_t OriginOf(const HeapEvent& event);
  bool wants_more() const { return is_same_process_ && !is_done_; }

  const ObjectGraph& graph_;
  const FreeLists free_lists_;
  const uint64_t until_us_;
  const int time_shift_;  // so that until_us_ fits below kInherited
  absl::flat_hash_set<uint32_t, Hash, Same> parts_;
  std::vector<Block> blocks_;  // by part
  std::vector<Origin> origins_{{}};
  // By stack and thread, see Origin.
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> origin_ids_;
  bool is_indexed_ = false;   // the index is built
  bool is_inherited_ = true;  // the events now are the parent's
  bool is_same_process_ = false, is_done_ = false;
  bool has_heap_events_ = false, sampled_ = false;
  uint64_t own_bytes_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_BLOCK_REPLAY_H_
