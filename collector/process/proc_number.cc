#include "collector/process/proc_number.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

bool ProcIsOfOurNamespace() {
  char text[32] = "";
  if (readlink("/proc/self", text, sizeof(text) - 1) <= 0) return true;
  return std::atoi(text) == getpid();
}

}  // namespace

pid_t ProcNumberOf(pid_t pid) {
  if (ProcIsOfOurNamespace()) return pid;
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return pid;
  // Says the number that this /proc has for the process of a pidfd.
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

}  // namespace pymemrun
