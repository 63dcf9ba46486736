// Which threads a report shows: --thread. Used by everything that sums up by
// thread.
#ifndef PYMEMRUN_READERS_PLACES_THREAD_FILTER_H_
#define PYMEMRUN_READERS_PLACES_THREAD_FILTER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// For one run. Not thread safe. The index must outlive it.
class ThreadFilter {
 public:
  // `wanted`: a thread's name, a shell pattern of names, a number, or a name
  // and number as reports print them ("worker#4712"). A renamed thread has its
  // last known name. Empty: all threads.
  ThreadFilter(std::string wanted, const RunIndex* index)
      : wanted_(std::move(wanted)), index_(index) {}

  // Whether some threads may be left out.
  bool any() const { return !wanted_.empty(); }
  // Whether the thread is wanted. An unknown thread is, only if all are.
  bool Keeps(uint32_t thread);
  // Fails if the run has no such thread; the message lists its threads.
  // REQUIRES: the run was read.
  absl::Status Check();
  // "worker#4712", or "2 threads 'worker*'".
  std::string Label();

 private:
  bool IsWanted(uint32_t definition) const;

  std::string wanted_;
  const RunIndex* index_;
  // By thread: 0: not asked yet; otherwise Keeps() + 1.
  std::vector<char> known_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_THREAD_FILTER_H_
