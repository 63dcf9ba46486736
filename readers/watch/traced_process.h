// Finds the run file of a process being traced, and starts a traced process.
#ifndef PYMEMRUN_READERS_WATCH_TRACED_PROCESS_H_
#define PYMEMRUN_READERS_WATCH_TRACED_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace pymemrun {

// The collector of a process that is being traced.
struct TracedBy {
  pid_t collector = 0;
  // The file that it writes. If the file lost its name, or another file has it
  // now, the path of the collector's descriptor.
  std::string run_file;
};

// Each fails if no collector of this process can be inspected.
absl::StatusOr<TracedBy> CollectorOf(pid_t pid);
absl::StatusOr<std::string> RunFileOf(pid_t pid);

// Whether `collector` is now a collector of process `pid`, judging by its
// program and its open files.
bool IsCollectorOf(pid_t collector, pid_t pid);

// A program under pymemrun, in a session of its own: it goes on when the
// terminal or its watcher ends. Not thread safe.
class StartedRun {
 public:
  // `words`: arguments for pymemrun, including options. The run file and the
  // program's output go into a new folder, which is kept.
  static absl::StatusOr<std::unique_ptr<StartedRun>> Start(
      const std::vector<std::string>& words);

  const std::string& run_path() const { return run_path_; }
  const std::string& output_path() const { return output_path_; }
  pid_t pid() const { return pid_; }
  // The exit status as a shell reports it; nothing while the program runs.
  std::optional<int> ExitCode();

 private:
  StartedRun() = default;

  std::string run_path_, output_path_;
  pid_t pid_ = 0;
  std::optional<int> code_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_WATCH_TRACED_PROCESS_H_
