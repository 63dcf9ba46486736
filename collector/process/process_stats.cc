#include "collector/process/process_stats.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "collector/process/proc_number.h"

namespace pymemrun {
namespace {

// From the state on, which follows the name in parentheses; the name may hold
// anything, so its end is the last parenthesis.
std::vector<absl::string_view> FieldsOfStat(absl::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos) return {};
  return absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
}
// Numbered as in proc(5), less the two before the state and the 1 they start
// at.
constexpr size_t kState = 0, kFlags = 6, kUserTicks = 11, kSystemTicks = 12,
                 kExitCode = 49;

uint64_t TicksToMicros(absl::string_view text, uint64_t otherwise) {
  static const uint64_t ticks_per_second = sysconf(_SC_CLK_TCK);
  uint64_t ticks;
  if (!absl::SimpleAtoi(text, &ticks)) return otherwise;
  return ticks * 1000000 / ticks_per_second;
}

// "VmHWM:     1234 kB" after `label`.
uint64_t Kilobytes(absl::string_view status, absl::string_view label,
                   uint64_t otherwise) {
  const size_t at = status.find(label);
  if (at == absl::string_view::npos) return otherwise;
  absl::string_view rest = status.substr(at + label.size());
  rest = absl::StripLeadingAsciiWhitespace(rest);
  uint64_t kilobytes;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &kilobytes)) {
    return otherwise;
  }
  return kilobytes * 1024;
}

absl::string_view ReadWhole(int fd, char* buffer, size_t size) {
  const ssize_t got = fd < 0 ? -1 : pread(fd, buffer, size, 0);
  return {buffer, got < 0 ? 0 : static_cast<size_t>(got)};
}

}  // namespace

ProcessStats::ProcessStats(pid_t pid)
    : stat_fd_(open(absl::StrCat("/proc/", ProcNumberOf(pid), "/stat").c_str(),
                    O_RDONLY | O_CLOEXEC)),
      status_fd_(
          open(absl::StrCat("/proc/", ProcNumberOf(pid), "/status").c_str(),
               O_RDONLY | O_CLOEXEC)) {}

ProcessStats::~ProcessStats() {
  if (stat_fd_ >= 0) close(stat_fd_);
  if (status_fd_ >= 0) close(status_fd_);
}

void ProcessStats::ReadMemory(ProcessSample* sample) {
  char buffer[4096];
  ParseStatus(ReadWhole(status_fd_, buffer, sizeof(buffer)), sample);
}

void ProcessStats::ReadTimes(ProcessSample* sample) {
  char buffer[4096];
  ParseStat(ReadWhole(stat_fd_, buffer, sizeof(buffer)), sample);
}

bool ProcessStats::IsEnding() {
  constexpr uint32_t kExiting = 4;  // the kernel's PF_EXITING
  char buffer[4096];
  const auto fields = FieldsOfStat(ReadWhole(stat_fd_, buffer, sizeof(buffer)));
  uint32_t flags = 0;
  return fields.size() <= kFlags || !absl::SimpleAtoi(fields[kFlags], &flags) ||
         (flags & kExiting) != 0;
}

int ProcessStats::ZombieWaitStatus() {
  char buffer[4096];
  const auto fields = FieldsOfStat(ReadWhole(stat_fd_, buffer, sizeof(buffer)));
  int status = 0;
  if (fields.size() <= kExitCode || fields[kState] != "Z") return 0;
  return absl::SimpleAtoi(absl::StripAsciiWhitespace(fields[kExitCode]),
                          &status)
             ? status
             : 0;
}

void ParseStat(absl::string_view stat, ProcessSample* sample) {
  const auto fields = FieldsOfStat(stat);
  if (fields.size() <= kSystemTicks) return;
  sample->set_user_us(TicksToMicros(fields[kUserTicks], sample->user_us()));
  sample->set_system_us(
      TicksToMicros(fields[kSystemTicks], sample->system_us()));
}

void ParseStatus(absl::string_view status, ProcessSample* sample) {
  sample->set_hwm_bytes(Kilobytes(status, "\nVmHWM:", sample->hwm_bytes()));
  sample->set_rss_bytes(Kilobytes(status, "\nVmRSS:", sample->rss_bytes()));
}

}  // namespace pymemrun
