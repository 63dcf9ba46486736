#include "readers/run/follow_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace pymemrun {
namespace {

constexpr int64_t kSecondNs = 1000000000;

int64_t ClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

// The fields of /proc/PID/stat from the state on; none without such a process,
// which *gone says.
std::vector<std::string> StatFields(uint32_t pid, bool* gone) {
  const int fd =
      open(absl::StrCat("/proc/", pid, "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  *gone = fd < 0 && errno == ENOENT;
  if (fd < 0) return {};
  char buffer[2048];
  const ssize_t got = read(fd, buffer, sizeof(buffer));
  *gone = got < 0 && errno == ESRCH;
  close(fd);
  const absl::string_view stat(buffer, got < 0 ? 0 : got);
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos) return {};
  return absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
}

// When a process began, on CLOCK_MONOTONIC, if it began in ticks of the clock
// that goes on in suspend: or earlier, where a suspend came after it.
int64_t StartNs(int64_t ticks) {
  const int64_t boot_ns = ticks * (kSecondNs / sysconf(_SC_CLK_TCK));
  return boot_ns - (ClockNs(CLOCK_BOOTTIME) - ClockNs(CLOCK_MONOTONIC));
}

}  // namespace

bool RunIsDead(const Header& header) {
  constexpr size_t kState = 0, kStartTicks = 19;  // as proc(5), from the state
  char host[HOST_NAME_MAX + 1] = {};
  if (header.pid() == 0 || gethostname(host, sizeof(host) - 1) != 0 ||
      header.host() != host) {
    return false;
  }
  bool gone = false;
  const std::vector<std::string> fields = StatFields(header.pid(), &gone);
  if (gone) return true;
  int64_t ticks;
  if (fields.size() <= kStartTicks ||
      !absl::SimpleAtoi(fields[kStartTicks], &ticks)) {
    return false;
  }
  if (fields[kState] == "Z" || fields[kState] == "X") return true;
  return StartNs(ticks) - kSecondNs >
         static_cast<int64_t>(header.start_monotonic_ns());
}

bool FollowWatch::IsOver(uint64_t bytes_read, absl::Time now) {
  if (bytes_read != bytes_read_ || since_ == absl::InfinitePast()) {
    bytes_read_ = bytes_read;
    since_ = now;
  }
  return now - since_ >= kPatience && is_dead_();
}

}  // namespace pymemrun
