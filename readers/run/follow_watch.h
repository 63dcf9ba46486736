// Whether a run file is still being written, and whether its run is over, with
// a footer or without.
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

// Whether the run's process exists. It is dead if this host has no process with
// its pid, or a zombie, or one that started after the run.
RunState StateOf(const Header& header);
inline bool RunIsDead(const Header& header) {
  return StateOf(header) == RunState::kDead;
}

// Reads the header from the start of the file at `fd`; empty if it has no
// header yet.
Header HeaderOf(int fd);

// Waits while the file at `fd` will soon be complete: its program is over, and
// the collector writes the rest. Does not wait for a program that still runs.
// Another process may hold the file's lock forever, so it waits for at most
// `patience`, and only while `goes_on`, called with the time waited, returns
// true. Returns how the file is being written then: kFinishing, too, if only
// the program's end is known.
Writing WaitForWriter(int fd, absl::Duration patience,
                      absl::FunctionRef<bool(absl::Duration)> goes_on);

// Why the file at `fd` has no end, if it is being written now; otherwise empty.
std::string WhyNoEnd(int fd);
// Like SayResult(), for the file at `fd`, which may still be written.
int SayResultOf(int fd, const Console& console, absl::string_view name,
                const absl::Status& status, const ReadResult& result);

// Decides when to stop following a file. Not thread safe.
class FollowWatch {
 public:
  // The writer of the file outlives the program by less.
  static constexpr absl::Duration kPatience = absl::Seconds(3);

  // `is_dead`: RunIsDead() of the run followed.
  explicit FollowWatch(std::function<bool()> is_dead)
      : is_dead_(std::move(is_dead)) {}

  // To be called repeatedly at the file's end, with the number of bytes read so
  // far. Returns true if the run is dead, and the file has not grown for
  // kPatience.
  bool IsOver(uint64_t bytes_read, absl::Time now);

 private:
  const std::function<bool()> is_dead_;
  uint64_t bytes_read_ = 0;
  // When it last grew; infinite past: not asked yet.
  absl::Time since_ = absl::InfinitePast();
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_RUN_FOLLOW_WATCH_H_
