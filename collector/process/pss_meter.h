// Proportional set size of the traced process: each page divided by the number
// of processes that share it. Read only if there are several processes or
// counters are traced: the kernel walks the page tables, and mmap calls of the
// program wait for that.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PSS_METER_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PSS_METER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "collector/process/proc_file.h"
#include "format/trace.pb.h"

namespace pymemrun {

// What the kernel counts in one walk over a process's pages.
struct ProportionalSet {
  uint64_t pss_bytes = 0;  // 0: not known
  uint64_t rss_bytes = 0;

  // In place of RSS there, which is of another moment.
  void PutInto(ProcessSample* sample) const;
};

// Not thread safe.
class PssMeter {
 public:
  explicit PssMeter(pid_t pid) : pid_(pid) {}

  // The sizes, where it is time to look and PSS has moved by 64 KiB and 1/1024
  // since the last call that gave some. 0: not so, or they cannot be read.
  // Takes half a percent of a CPU at most.
  ProportionalSet ReadMoved(uint64_t now_ns);
  // The same wherever it is time to look, moved or not.
  ProportionalSet Read(uint64_t now_ns);

 private:
  const pid_t pid_;
  std::unique_ptr<ProcFile> file_;  // from the first look on
  uint64_t next_ns_ = 0;
  uint64_t told_bytes_ = 0;
};

// Whether a size has moved by a step, and by this part of itself.
bool HasMoved(uint64_t from_bytes, uint64_t to_bytes, uint64_t step_bytes,
              uint64_t part);

// The sizes in a text of /proc/PID/smaps_rollup; 0: it has none.
ProportionalSet ProportionalSetIn(absl::string_view text);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PSS_METER_H_
