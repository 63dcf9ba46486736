// `pymemreport heap --objects`: the types of the objects in a line's blocks,
// and their holders.
#ifndef PYMEMRUN_READERS_OBJECTS_BLOCKS_HEAP_OBJECTS_H_
#define PYMEMRUN_READERS_OBJECTS_BLOCKS_HEAP_OBJECTS_H_

#include <cstdint>
#include <string>

#include "readers/output/output_buffer.h"
#include "readers/output/table.h"
#include "readers/run/console.h"

namespace pymemrun {

// What ShowHeapObjects() shows.
struct HeapObjectsOptions {
  // A dump's path; "last": the last dump in the run file's folder; empty: not
  // requested.
  std::string dump;
  uint64_t limit = 0;  // of lines; 0: all
  TableFormat format = TableFormat::kText;
};

// The dump that these options name; empty: none.
std::string DumpOf(const std::string& run_path,
                   const HeapObjectsOptions& options);

// Prints the report. Returns the exit code.
int ShowHeapObjects(const std::string& run_path,
                    const HeapObjectsOptions& options, const Console& console,
                    OutputBuffer* output);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_BLOCKS_HEAP_OBJECTS_H_
