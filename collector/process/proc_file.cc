#include "collector/process/proc_file.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

// /proc/self is the number of this process in the PID namespace that /proc was
// mounted for.
bool ProcIsOfOurNamespace() {
  char text[32] = "";
  if (readlink("/proc/self", text, sizeof(text) - 1) <= 0) return true;
  return std::atoi(text) == getpid();
}

// The number of the process in the namespace of /proc; 0: it is not visible
// there.
pid_t ProcNumberOf(pid_t pid) {
  if (ProcIsOfOurNamespace()) return pid;
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return pid;
  // "Pid:" is the number of the process in the namespace of this /proc.
  std::ifstream info(absl::StrCat("/proc/self/fdinfo/", fd));
  pid_t number = pid;
  for (std::string line; std::getline(info, line);) {
    int found = 0;
    if (absl::StartsWith(line, "Pid:") &&
        absl::SimpleAtoi(line.substr(sizeof("Pid:") - 1), &found)) {
      number = std::max(found, 0);  // -1: it has ended
    }
  }
  close(fd);
  return number;
}

}  // namespace

std::string ProcPath(pid_t pid, absl::string_view name) {
  return absl::StrCat("/proc/", ProcNumberOf(pid), "/", name);
}

ProcFile::ProcFile(pid_t pid, absl::string_view name)
    : fd_(open(ProcPath(pid, name).c_str(), O_RDONLY | O_CLOEXEC)) {}

ProcFile::~ProcFile() {
  if (fd_ >= 0) close(fd_);
}

absl::string_view ProcFile::Read(char* buffer, size_t size) const {
  const ssize_t got = fd_ < 0 ? -1 : pread(fd_, buffer, size, 0);
  return {buffer, got < 0 ? 0 : static_cast<size_t>(got)};
}

}  // namespace pymemrun
