// Tells who follows a run when a run that has no footer is over all the same.
#ifndef PYMEMRUN_READERS_RUN_FOLLOW_WATCH_H_
#define PYMEMRUN_READERS_RUN_FOLLOW_WATCH_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Whether the run's process is known to be gone: the run is of this host, and
// no process has its pid, or a zombie, or one that began after the run did.
// `false` where that cannot be told.
bool RunIsDead(const Header& header);

// Not thread safe.
class FollowWatch {
 public:
  // Whoever writes the file outlives the program by less.
  static constexpr absl::Duration kPatience = absl::Seconds(3);

  // `is_dead` as RunIsDead() says it of the run followed.
  explicit FollowWatch(std::function<bool()> is_dead)
      : is_dead_(std::move(is_dead)) {}

  // To be called again and again at the file's end, with how many bytes were
  // read so far: whether to wait no longer, because the run is dead and the
  // file has not grown for kPatience.
  bool IsOver(uint64_t bytes_read, absl::Time now);

 private:
  const std::function<bool()> is_dead_;
  uint64_t bytes_read_ = 0;
  absl::Time since_ = absl::InfinitePast();  // no growth; not yet asked
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_FOLLOW_WATCH_H_
