// Live bytes of two runs as one table: `pymemreport heap --diff`.
#ifndef PYMEMRUN_READERS_DIFF_HEAP_DIFF_H_
#define PYMEMRUN_READERS_DIFF_HEAP_DIFF_H_

#include "readers/heap/heap_table.h"

namespace pymemrun {

// What was alive at the first moment of each replay, by place, with what it was
// in the first one before it. A place is that of the second run where both have
// it. Names live as long as the replays.
HeapRows DiffHeapRows(GroupBy by, const HeapMoments& first,
                      const HeapMoments& second);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_DIFF_HEAP_DIFF_H_
