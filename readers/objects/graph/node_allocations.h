// Where and when the objects of a dump were allocated, as far as it is known.
// What knows it is in readers/objects/blocks.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_NODE_ALLOCATIONS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_NODE_ALLOCATIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "readers/objects/graph/dump_facts.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Of an object's own block. Where it is not sure that this made the object, of
// the block beside it, which holds a list's items: of its last enlargement.
struct NodeAllocation {
  uint32_t stack = 0;   // ids of the run's index
  uint32_t thread = 0;  // as the thread was called then
  // Nothing: before the process was forked.
  std::optional<uint64_t> time_us;
  bool is_beside = false;
  // False: an earlier object may have been made in that block, see FreeLists.
  bool is_sure = true;
};

class NodeAllocations {
 public:
  virtual ~NodeAllocations() = default;

  // Nothing: it is not known.
  virtual std::optional<NodeAllocation> Of(NodeId node) const = 0;
  // The number of the line of the user's own code that allocated it; 0: it is
  // not known.
  virtual uint32_t LineOf(NodeId node) const = 0;
  // The same where it is sure that this line made it; else 0.
  uint32_t SureLineOf(NodeId node) const {
    const auto allocation = Of(node);
    return allocation.has_value() && allocation->is_sure ? LineOf(node) : 0;
  }
  // "/app/cache.py:4 fill"; "" of 0.
  virtual const std::string& LineText(uint32_t line) const = 0;
  // Names of stacks and threads.
  virtual const RunIndex& index() const = 0;
  // Not every allocation was recorded.
  virtual bool sampled() const = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_NODE_ALLOCATIONS_H_
