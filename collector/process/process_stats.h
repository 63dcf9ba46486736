// Figures of the traced process from /proc.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PROCESS_STATS_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PROCESS_STATS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "collector/process/proc_file.h"
#include "format/trace.pb.h"

namespace pymemrun {

// Keeps two files of /proc/PID open. Not thread-safe. Fields that cannot be
// read keep their value: the process has ended, or belongs to another user.
class ProcessStats {
 public:
  explicit ProcessStats(pid_t pid)
      : pid_(pid), stat_(pid, "stat"), status_(pid, "status") {}

  // Sets hwm_bytes, rss_bytes and file_bytes.
  void ReadMemory(ProcessSample* sample);
  // Sets user_us, system_us and the page faults. A zombie still has these.
  void ReadTimes(ProcessSample* sample);
  // Returns whether the process is ending, so its memory is being released. Ask
  // after reading: if it is not ending then, the values read before are right.
  bool IsEnding();
  // Returns whether all its threads have ended, reaped or not; nullopt if that
  // cannot be read.
  absl::optional<bool> HasEnded() const;
  // Returns the wait status of a process that has died and was not reaped;
  // nullopt for others, or without permission. Before Linux 5.17 it is the
  // status of the main thread, which differs only if that thread ended before
  // the others.
  absl::optional<int> ZombieWaitStatus() const;

 private:
  bool MayKnowStatus() const;

  const pid_t pid_;
  const ProcFile stat_;
  const ProcFile status_;
};

// Returns whether times or sizes differ.
bool Differ(const ProcessSample& a, const ProcessSample& b);

// Facts of a thread from /proc; empty and 0 if they cannot be read.
struct ThreadStat {
  std::string name;
  uint64_t start_ticks = 0;  // clock ticks since boot
};
ThreadStat ReadThreadStat(pid_t pid, uint64_t thread);

// Parsers, public for tests. Missing fields keep their value.
void ParseStat(absl::string_view stat, ProcessSample* sample);
ThreadStat ParseThreadStat(absl::string_view stat);
void ParseStatus(absl::string_view status, ProcessSample* sample);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PROCESS_STATS_H_
