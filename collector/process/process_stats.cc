#include "collector/process/process_stats.h"

#include <errno.h>
#include <unistd.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace pymemrun {
namespace {

// The fields of /proc/PID/stat from the state on. The name before them may
// contain anything, so it ends at the last parenthesis.
std::vector<absl::string_view> FieldsOfStat(absl::string_view stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos) return {};
  return absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
}
// The numbers of proc(5) minus 3: they count from 1, and pid and name are left
// out.
constexpr size_t kState = 0, kFlags = 6, kMinorFaults = 7, kMajorFaults = 9,
                 kUserTicks = 11, kSystemTicks = 12, kThreads = 17,
                 kStartTicks = 19, kExitCode = 49;

uint64_t NumberOr(absl::string_view text, uint64_t otherwise) {
  uint64_t value;
  return absl::SimpleAtoi(text, &value) ? value : otherwise;
}

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

}  // namespace

void ProcessStats::ReadMemory(ProcessSample* sample) {
  char buffer[4096];
  ParseStatus(status_.Read(buffer, sizeof(buffer)), sample);
}

void ProcessStats::ReadTimes(ProcessSample* sample) {
  char buffer[4096];
  ParseStat(stat_.Read(buffer, sizeof(buffer)), sample);
}

bool ProcessStats::IsEnding() {
  constexpr uint32_t kExiting = 4;  // the kernel's PF_EXITING
  char buffer[4096];
  const auto fields = FieldsOfStat(stat_.Read(buffer, sizeof(buffer)));
  uint32_t flags = 0;
  return fields.size() <= kFlags || !absl::SimpleAtoi(fields[kFlags], &flags) ||
         (flags & kExiting) != 0;
}

absl::optional<bool> ProcessStats::HasEnded() const {
  char buffer[4096];
  errno = 0;
  const auto fields = FieldsOfStat(stat_.Read(buffer, sizeof(buffer)));
  if (fields.size() <= kThreads) {
    if (errno == ESRCH) return true;
    return absl::nullopt;
  }
  // A main thread that left before the others is a zombie, too.
  return (fields[kState] == "Z" || fields[kState] == "X") &&
         NumberOr(fields[kThreads], 0) <= 1;
}

// For readers without ptrace rights the kernel shows 0 as exit code (proc(5)).
// The same readers may not read the link to the program either; a zombie has
// none, which is ENOENT.
bool ProcessStats::MayKnowStatus() const {
  char link;
  // With hidepid the whole folder is missing, which is no answer.
  return access(ProcPath(pid_, "stat").c_str(), F_OK) == 0 &&
         (readlink(ProcPath(pid_, "exe").c_str(), &link, 1) >= 0 ||
          errno == ENOENT);
}

absl::optional<int> ProcessStats::ZombieWaitStatus() const {
  // Before stat is read: as long as the process is a zombie the number is its
  // own.
  const bool may_know = MayKnowStatus();
  char buffer[4096];
  const auto fields = FieldsOfStat(stat_.Read(buffer, sizeof(buffer)));
  int status = 0;
  if (fields.size() <= kExitCode || fields[kState] != "Z" ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(fields[kExitCode]),
                        &status) ||
      (status == 0 && !may_know)) {
    return absl::nullopt;
  }
  return status;
}

bool Differ(const ProcessSample& a, const ProcessSample& b) {
  return a.user_us() != b.user_us() || a.system_us() != b.system_us() ||
         a.hwm_bytes() != b.hwm_bytes() || a.rss_bytes() != b.rss_bytes();
}

void ParseStat(absl::string_view stat, ProcessSample* sample) {
  const auto fields = FieldsOfStat(stat);
  if (fields.size() <= kSystemTicks) return;
  sample->set_user_us(TicksToMicros(fields[kUserTicks], sample->user_us()));
  sample->set_system_us(
      TicksToMicros(fields[kSystemTicks], sample->system_us()));
  sample->set_minor_faults(
      NumberOr(fields[kMinorFaults], sample->minor_faults()));
  sample->set_major_faults(
      NumberOr(fields[kMajorFaults], sample->major_faults()));
}

ThreadStat ParseThreadStat(absl::string_view stat) {
  ThreadStat found;
  const auto fields = FieldsOfStat(stat);
  const size_t name = stat.find('(');
  if (fields.size() <= kStartTicks || name == absl::string_view::npos) {
    return found;
  }
  found.name = std::string(stat.substr(name + 1, stat.rfind(')') - name - 1));
  if (!absl::SimpleAtoi(fields[kStartTicks], &found.start_ticks)) {
    found.start_ticks = 0;
  }
  return found;
}

ThreadStat ReadThreadStat(pid_t pid, uint64_t thread) {
  char buffer[4096];
  const ProcFile file(pid, absl::StrCat("task/", thread, "/stat"));
  return ParseThreadStat(file.Read(buffer, sizeof(buffer)));
}

void ParseStatus(absl::string_view status, ProcessSample* sample) {
  sample->set_hwm_bytes(Kilobytes(status, "\nVmHWM:", sample->hwm_bytes()));
  sample->set_rss_bytes(Kilobytes(status, "\nVmRSS:", sample->rss_bytes()));
  const uint64_t shared = Kilobytes(status, "\nRssShmem:", 0);
  const uint64_t file_bytes =
      Kilobytes(status, "\nRssFile:", sample->file_bytes());
  sample->set_file_bytes(file_bytes + shared);
}

}  // namespace pymemrun
