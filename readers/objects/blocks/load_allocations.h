// Finds the run file of a dump, and joins the two.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_LOAD_ALLOCATIONS_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_LOAD_ALLOCATIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "readers/objects/graph/object_graph.h"
#include "readers/run/console.h"

namespace pymemrun {

// "a/run.pb" for "a/run.obj.pb" and "a/run.obj-2.pb", or "a/run" if only that
// exists. Empty: the dump's name is not of this form.
std::string RunFileOf(const std::string& dump_path);

// The last dump in the folder of this run file; empty: none.
std::string LastDumpOf(const std::string& run_path);

// The result of LoadAllocations().
struct AllocationsRead {
  // Fails with the reason why allocations are unknown; `allocations` is then
  // null.
  absl::Status status;
  std::unique_ptr<NodeAllocations> allocations;
  uint64_t damages = 0;    // in the run file
  uint64_t own_bytes = 0;  // memory of the tracer; 0: unknown
};

// Reads the allocations for `graph`, the dump at `dump_path`. `run_path`: the
// run file; empty: the one in the dump's folder. Prints damage unless `console`
// is null.
AllocationsRead LoadAllocations(const std::string& dump_path,
                                const std::string& run_path,
                                const Console* console,
                                const ObjectGraph& graph);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_LOAD_ALLOCATIONS_H_
