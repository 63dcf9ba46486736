// What /proc says about the traced process.
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

// Keeps two files of /proc/PID open. Not thread safe.
class ProcessStats {
 public:
  explicit ProcessStats(pid_t pid)
      : pid_(pid), stat_(pid, "stat"), status_(pid, "status") {}

  // What cannot be read (the process is gone, or became another user's) keeps
  // its value.
  // Sets hwm_bytes, rss_bytes and file_bytes.
  void ReadMemory(ProcessSample* sample);
  // Sets user_us, system_us and the page faults, which a zombie still tells.
  void ReadTimes(ProcessSample* sample);
  // Whether it is ending: its memory goes. Asked after something was read, for
  // what was read of one that is not ending now was right.
  bool IsEnding();
  // Whether all its threads have ended, reaped or not; nullopt: it cannot be
  // read.
  absl::optional<bool> HasEnded() const;
  // The wait status of a process that has died and was not reaped; nothing:
  // it is no such process, or we may not know. Before Linux 5.17 it is the main
  // thread's, which differs only where that thread left before the others.
  absl::optional<int> ZombieWaitStatus() const;

 private:
  bool MayKnowStatus() const;

  const pid_t pid_;
  const ProcFile stat_;
  const ProcFile status_;
};

// Whether times or sizes of the process have changed.
bool Differ(const ProcessSample& a, const ProcessSample& b);

// A thread as /proc shows it; empty and 0: it cannot be read.
struct ThreadStat {
  std::string name;
  uint64_t start_ticks = 0;  // since the machine booted
};
ThreadStat ReadThreadStat(pid_t pid, uint64_t thread);

// The parsers, for tests. Fields that are missing stay as they are.
void ParseStat(absl::string_view stat, ProcessSample* sample);
ThreadStat ParseThreadStat(absl::string_view stat);
void ParseStatus(absl::string_view status, ProcessSample* sample);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PROCESS_STATS_H_
