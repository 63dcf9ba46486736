// Finds the run file of a process that is traced, and starts one.
#ifndef PYMEMRUN_READERS_WATCH_TRACED_PROCESS_H_
#define PYMEMRUN_READERS_WATCH_TRACED_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace pymemrun {

// The collector of a process that is traced.
struct TracedBy {
  pid_t collector = 0;
  // The file that it writes; where that has no name any more, or another file
  // has it, the collector's descriptor.
  std::string run_file;
};

// Fails when no collector of this process can be looked at.
absl::StatusOr<TracedBy> CollectorOf(pid_t pid);
absl::StatusOr<std::string> RunFileOf(pid_t pid);

// Whether `collector` is now a collector of process `pid`, by its program and by
// what it has open.
bool IsCollectorOf(pid_t collector, pid_t pid);

// A program under pymemrun, in a session of its own: what ends the terminal or
// whoever watches does not end it. Not thread safe.
class StartedRun {
 public:
  // `words`: for pymemrun, its options too. The run file and what the program
  // prints go into a new folder, which stays.
  static absl::StatusOr<std::unique_ptr<StartedRun>> Start(
      const std::vector<std::string>& words);

  const std::string& run_path() const { return run_path_; }
  const std::string& output_path() const { return output_path_; }
  pid_t pid() const { return pid_; }
  // What a shell would say that it exited with; nothing: it goes on.
  std::optional<int> ExitCode();

 private:
  StartedRun() = default;

  std::string run_path_, output_path_;
  pid_t pid_ = 0;
  std::optional<int> code_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_TRACED_PROCESS_H_
