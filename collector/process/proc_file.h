// Files in the /proc folder of a process.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PROC_FILE_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PROC_FILE_H_

#include <sys/types.h>

#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// Returns the path of file `name` of the process `pid`, as numbered in the PID
// namespace of the caller. If /proc belongs to an outer PID namespace, the
// folder has another number there, and `pid` may be another process. Returns a
// path that does not exist if /proc does not show the process, and the folder
// `pid` if its number there cannot be found.
std::string ProcPath(pid_t pid, absl::string_view name);

// Keeps such a file open. The open file still means the same process after its
// pid was reused.
class ProcFile {
 public:
  ProcFile(pid_t pid, absl::string_view name);
  ~ProcFile();
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  int fd() const { return fd_; }  // below 0: not open
  // Reads the file from its start into `buffer`. Returns the bytes read; empty
  // if it cannot be read.
  absl::string_view Read(char* buffer, size_t size) const;

 private:
  const int fd_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PROC_FILE_H_
