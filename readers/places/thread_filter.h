// Which threads a report is of: --thread. Used by whatever sums up bytes of
// threads.
#ifndef PYMEMRUN_READERS_PLACES_THREAD_FILTER_H_
#define PYMEMRUN_READERS_PLACES_THREAD_FILTER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "readers/run/run_index.h"

namespace pymemrun {

// Of one run. Not thread safe; the index must outlive it.
class ThreadFilter {
 public:
  // `wanted`: a thread's name, a shell pattern of names, a number, or both as
  // reports print them ("worker#4712"). A renamed thread has its last name, as
  // far as the index knows it. Empty: all threads.
  ThreadFilter(std::string wanted, const RunIndex* index)
      : wanted_(std::move(wanted)), index_(index) {}

  // Whether not all threads are wanted.
  bool any() const { return !wanted_.empty(); }
  // Whether the thread is wanted. One that is not known is so only among all.
  bool Keeps(uint32_t thread);
  // Fails where the run has no such thread, and says which it has. REQUIRES:
  // the run was read.
  absl::Status Check();
  // "worker#4712", or "2 threads 'worker*'".
  std::string Label();

 private:
  bool IsWanted(uint32_t definition) const;

  std::string wanted_;
  const RunIndex* index_;
  std::vector<char> known_;  // by thread: 0, or what Keeps() says, + 1
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_PLACES_THREAD_FILTER_H_
