// Finds the run file that a dump belongs to, and joins the two.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_LOAD_ALLOCATIONS_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_LOAD_ALLOCATIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/run/console.h"

namespace pymemrun {

// "a/run.pb" of "a/run.obj.pb" and "a/run.obj-2.pb", or "a/run" where that is
// the one that is there; empty: the dump has a name of its own.
std::string RunFileOf(const std::string& dump_path);

// The last dump that lies beside this run file; empty: no dump does.
std::string LastDumpOf(const std::string& run_path);

struct AllocationsRead {
  // Fails with why nothing is known; `allocations` is then null.
  absl::Status status;
  std::unique_ptr<NodeAllocations> allocations;
  uint64_t damages = 0;    // of the run file
  uint64_t own_bytes = 0;  // the tracer's memory; 0: not known
};

// For the graph of the dump at `dump_path`, which is to take them. `run_path`:
// the run file; empty: the one beside the dump. Damage is said, if `console` is
// not null.
AllocationsRead LoadAllocations(const std::string& dump_path,
                                const std::string& run_path,
                                const Console* console,
                                const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_LOAD_ALLOCATIONS_H_
