#include "launcher/session/lineage.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string>

namespace pymemrun {
namespace {

constexpr int kFieldsBetween = 20;  // from the name to starttime, as in proc(5)

}  // namespace

uint64_t StartTicksIn(std::string_view stat) {
  // The name in parentheses may hold anything: its end is the last one.
  size_t at = stat.rfind(')');
  for (int i = 0; i < kFieldsBetween && at != std::string_view::npos; ++i) {
    at = stat.find(' ', at + 1);
  }
  uint64_t ticks = 0;
  if (at != std::string_view::npos) {
    std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), ticks);
  }
  return ticks;
}

// One read is enough: a line of stat has some 300 bytes.
ProcessName NameOfProcess(pid_t pid) {
  char text[1024];
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text);
  if (fd >= 0) close(fd);
  return {pid, size <= 0 ? 0 : StartTicksIn({text, static_cast<size_t>(size)})};
}

}  // namespace pymemrun
