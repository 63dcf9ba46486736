// The table of `pymemreport threads`.
#ifndef PYMEMRUN_READERS_REPLAY_THREADS_THREAD_TABLE_H_
#define PYMEMRUN_READERS_REPLAY_THREADS_THREAD_TABLE_H_

#include <cstdint>
#include <string>

#include "readers/output/table.h"
#include "readers/places/thread_filter.h"
#include "readers/replay/growth/profile_table.h"
#include "readers/replay/heap/heap_replay.h"
#include "readers/replay/threads/thread_replay.h"

namespace pymemrun {

// What is known of a run's threads; it must outlive its use.
struct ThreadFacts {
  const ThreadReplay* replay;
  // What was alive at one moment; null: unknown.
  const HeapMoments* heap = nullptr;
  // If not null, growth is what the thread's events saw, and `unseen_bytes`
  // what no event saw. If null, growth is what each thread caused.
  const CallProfile* observed = nullptr;
  int64_t unseen_bytes = 0;

  bool knows_growth() const {
    return observed != nullptr || replay->KnowsPages();
  }
};

// The threads that are kept, most growth first, at most `limit` of them (0:
// all). Then all others as one row. The last row is what no thread changed:
// with it the nets add up to the change of RSS since tracing started. Unknown
// values are empty.
Table ThreadTable(const ThreadFacts& facts, ThreadFilter* keep, uint64_t limit);

// The lines above the table in text, each ended.
std::string ThreadHeading(const ThreadFacts& facts);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_TABLE_H_
