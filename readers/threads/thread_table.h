// The table of `pymemreport threads`.
#ifndef PYMEMRUN_READERS_THREADS_THREAD_TABLE_H_
#define PYMEMRUN_READERS_THREADS_THREAD_TABLE_H_

#include <cstdint>
#include <string>

#include "readers/heap/heap_replay.h"
#include "readers/output/table.h"
#include "readers/threads/thread_replay.h"

namespace pymemrun {

// Whether somebody saw which thread brought pages.
bool KnowsPages(const ThreadReplay& replay);

// The threads, most growth first, at most `limit` of them (0: all), then the
// others as one row. The last row is what no thread did: with it the nets add
// up to what RSS changed by since tracing began. `heap`: what was alive at one
// moment; null: not known. What is not known is empty.
Table ThreadTable(const ThreadReplay& replay, const HeapMoments* heap,
                  uint64_t limit);

// What stands above the table in text. Lines, each ended.
std::string ThreadHeading(const ThreadReplay& replay, const HeapMoments* heap);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_THREADS_THREAD_TABLE_H_
