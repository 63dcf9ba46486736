#include "collector/definitions/native_thread.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "collector/process/proc_number.h"

namespace pymemrun {
namespace {

std::string NameOf(pid_t pid, uint32_t thread) {
  // As threading calls it, so that it is one thread with the ring's.
  if (thread == static_cast<uint32_t>(pid)) return "MainThread";
  char name[64];
  const int fd =
      open(absl::StrCat("/proc/", ProcNumberOf(pid), "/task/", thread, "/comm")
               .c_str(),
           O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : read(fd, name, sizeof(name));
  if (fd >= 0) close(fd);
  if (got <= 0) return "native thread";
  return std::string(absl::StripAsciiWhitespace(
      absl::string_view(name, static_cast<size_t>(got))));
}

}  // namespace

uint32_t NativeThreadId(pid_t pid, uint32_t thread, uint64_t first_us,
                        DefinitionTable* definitions) {
  return definitions->NativeThread(thread, first_us,
                                   [&] { return NameOf(pid, thread); });
}

}  // namespace pymemrun
