// Whether somebody writes a run file still, and whether its run is over, footer
// or not.
#ifndef PYMEMRUN_READERS_RUN_FOLLOW_WATCH_H_
#define PYMEMRUN_READERS_RUN_FOLLOW_WATCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "format/lock/writer_lock.h"
#include "format/trace.pb.h"
#include "readers/run/console.h"

namespace pymemrun {

enum class RunState { kUnknown, kRuns, kDead };

// Whether the run's process is there. It is gone where no process of this host
// has its pid, or a zombie, or one that began after the run did.
RunState StateOf(const Header& header);
inline bool RunIsDead(const Header& header) {
  return StateOf(header) == RunState::kDead;
}

// Of the file at `fd`, from its start; empty where the file has no header yet.
Header HeaderOf(int fd);

// Waits while the file at `fd` will soon be whole: its program is over, and the
// collector writes what is left. Does not wait for a program that still runs.
// Any process may hold such a lock for ever, so it waits for at most
// `patience`, and while `goes_on`, which is given how long it has waited, says
// so. Returns how the file is then written: kFinishing too where only the
// program's end is known.
Writing WaitForWriter(int fd, absl::Duration patience,
                      absl::FunctionRef<bool(absl::Duration)> goes_on);

// Why the end of the file at `fd` is missing, where somebody writes it now;
// else empty.
std::string WhyNoEnd(int fd);
// As SayResult(), of the file at `fd`, which somebody may still write.
int SayResultOf(int fd, const Console& console, absl::string_view name,
                const absl::Status& status, const ReadResult& result);

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
