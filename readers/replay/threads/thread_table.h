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

// What is known of a run's threads.
struct ThreadFacts {
  const ThreadReplay* replay;
  // What was alive at one moment; null: not known.
  const HeapMoments* heap = nullptr;
  // Whose events saw RSS change, which then is the growth, and what none saw.
  // Null: the growth is what each thread caused.
  const CallProfile* observed = nullptr;
  int64_t unseen_bytes = 0;

  bool knows_growth() const {
    return observed != nullptr || replay->KnowsPages();
  }
};

// The threads that are kept, most growth first, at most `limit` of them (0:
// all), then all others as one row. The last row is what no thread did: with it
// the nets add up to what RSS changed by since tracing began. What is not known
// is empty.
Table ThreadTable(const ThreadFacts& facts, ThreadFilter* keep, uint64_t limit);

// What stands above the table in text. Lines, each ended.
std::string ThreadHeading(const ThreadFacts& facts);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_REPLAY_THREADS_THREAD_TABLE_H_
