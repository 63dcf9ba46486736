// Files in a process's folder of /proc.
#ifndef PYMEMRUN_COLLECTOR_PROCESS_PROC_FILE_H_
#define PYMEMRUN_COLLECTOR_PROCESS_PROC_FILE_H_

#include <sys/types.h>

#include <string>

#include "absl/strings/string_view.h"

namespace pymemrun {

// The path of the file `name` of the process that this one calls `pid`. Its
// folder has another number where /proc is still an outer PID namespace's, in
// which `pid` may be anybody. No file is there where /proc does not show the
// process. The folder is that of `pid` where it cannot be told.
std::string ProcPath(pid_t pid, absl::string_view name);

// Keeps such a file open, which goes on meaning that process when its number is
// used again.
class ProcFile {
 public:
  ProcFile(pid_t pid, absl::string_view name);
  ~ProcFile();
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  int fd() const { return fd_; }  // below 0: it could not be opened
  // Reads into `buffer` from the file's begin on. Empty: it cannot be read.
  absl::string_view Read(char* buffer, size_t size) const;

 private:
  const int fd_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_COLLECTOR_PROCESS_PROC_FILE_H_
