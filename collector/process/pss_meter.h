// The traced process's proportional set size: each page divided by how many
// processes have it. Read only where there are several, for the kernel walks
// the page tables, and the program's calls of mmap wait meanwhile.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PSS_METER_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PSS_METER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "collector/process/proc_file.h"

namespace pymemrun {

// Not thread safe.
class PssMeter {
 public:
  explicit PssMeter(pid_t pid) : pid_(pid) {}

  // Bytes, where it is time to look and they have moved since the last call
  // that gave some. 0: not so, or they cannot be read. Takes half a percent of
  // a CPU at most.
  uint64_t ReadMoved(uint64_t now_ns);

 private:
  const pid_t pid_;
  std::unique_ptr<ProcFile> file_;  // from the first look on
  uint64_t next_ns_ = 0;
  uint64_t told_bytes_ = 0;
};

// Whether a size is worth another record: by 256 KiB and 1/256 of it.
bool HasMoved(uint64_t from_bytes, uint64_t to_bytes);

// The size in a text of /proc/PID/smaps_rollup; 0: it has none.
uint64_t PssBytesIn(absl::string_view text);

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PSS_METER_H_
