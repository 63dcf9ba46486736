// `pymemreport heap --objects`: the types of the objects in a line's blocks,
// and who holds them.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_HEAP_OBJECTS_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_HEAP_OBJECTS_H_

#include <cstdint>
#include <string>

#include "readers/output/output_buffer.h"
#include "readers/output/table.h"
#include "readers/run/console.h"

namespace pymemrun {

struct HeapObjectsOptions {
  // A dump; "last": the last one beside the run file; empty: none was asked
  // for.
  std::string dump;
  uint64_t limit = 0;  // of lines; 0: all
  TableFormat format = TableFormat::kText;
};

// The dump that it reads with these options; empty: none.
std::string DumpOf(const std::string& run_path,
                   const HeapObjectsOptions& options);

// Prints; returns the exit code.
int ShowHeapObjects(const std::string& run_path,
                    const HeapObjectsOptions& options, const Console& console,
                    OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_HEAP_OBJECTS_H_
