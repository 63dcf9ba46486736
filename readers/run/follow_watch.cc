#include "readers/run/follow_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "format/records/record_visitor.h"

namespace pymemrun {
namespace {

constexpr int64_t kSecondNs = 1000000000;

int64_t ClockNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

// The fields of /proc/PID/stat from the state on, see proc(5). Empty if there
// is no such process, which sets *gone.
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
  // The name in parentheses can itself have spaces and parentheses.
  const size_t name_end = stat.rfind(')');
  if (name_end == absl::string_view::npos) return {};
  return absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
}

// When a process started, on CLOCK_MONOTONIC. `ticks` count time in suspend: if
// the host was suspended since, the result is too early.
int64_t StartNs(int64_t ticks) {
  const int64_t boot_ns = ticks * (kSecondNs / sysconf(_SC_CLK_TCK));
  return boot_ns - (ClockNs(CLOCK_BOOTTIME) - ClockNs(CLOCK_MONOTONIC));
}

// The first bytes of a file, which have its header. Does not change its
// position.
class FirstBytes final : public ByteSource {
 public:
  explicit FirstBytes(int fd) : fd_(fd) {}
  absl::StatusOr<size_t> Read(char* buffer, size_t size) override {
    const ssize_t got = pread(fd_, buffer, std::min(size, kMost - at_), at_);
    if (got < 0) return absl::UnavailableError("cannot be read");
    at_ += static_cast<size_t>(got);
    return static_cast<size_t>(got);
  }

 private:
  static constexpr size_t kMost = 1 << 20;
  const int fd_;
  size_t at_ = 0;
};

class HeaderKeeper final : public RecordVisitor {
 public:
  void OnHeader(const Header& header) override { header_ = header; }
  const Header& header() const { return header_; }

 private:
  Header header_;
};

}  // namespace

// A pid may be used again, and a file may come from another machine. So a
// process counts as the run's only if host and start time fit.
RunState StateOf(const Header& header) {
  // Numbered as in proc(5), from the state on.
  constexpr size_t kState = 0, kFlags = 6, kStartTicks = 19, kPending = 28;
  char host[HOST_NAME_MAX + 1] = {};
  if (header.pid() == 0 || gethostname(host, sizeof(host) - 1) != 0 ||
      header.host() != host) {
    return RunState::kUnknown;
  }
  bool gone = false;
  const std::vector<std::string> fields = StatFields(header.pid(), &gone);
  if (gone) return RunState::kDead;
  int64_t ticks;
  uint64_t flags, pending;
  if (fields.size() <= kPending ||
      !absl::SimpleAtoi(fields[kStartTicks], &ticks) ||
      !absl::SimpleAtoi(fields[kFlags], &flags) ||
      !absl::SimpleAtoi(fields[kPending], &pending)) {
    return RunState::kUnknown;
  }
  // It is exiting, or was killed.
  constexpr uint64_t kExiting = 4, kKilled = uint64_t{1} << (SIGKILL - 1);
  if ((flags & kExiting) != 0 || (pending & kKilled) != 0) {
    return RunState::kDead;
  }
  // The process id was reused if this process started after the run. One second
  // allows for the resolution of clock ticks.
  const bool is_later = StartNs(ticks) - kSecondNs >
                        static_cast<int64_t>(header.start_monotonic_ns());
  return is_later || fields[kState] == "Z" || fields[kState] == "X"
             ? RunState::kDead
             : RunState::kRuns;
}

// How the reading ends does not matter: it ends where FirstBytes does.
Header HeaderOf(int fd) {
  FirstBytes source(fd);
  HeaderKeeper keeper;
  ReadResult result;
  ReadStream(&source, StreamReader::Options(), &keeper, &result).IgnoreError();
  return keeper.header();
}

namespace {

// Whether the program itself still writes, not only its collector.
bool IsRecorded(int fd) {
  const Header header = HeaderOf(fd);
  return header.pid() != 0 && !RunIsDead(header);
}

}  // namespace

std::string WhyNoEnd(int fd) {
  const Writing writing = WritingOf(fd);
  if (writing == Writing::kNo) return {};
  return absl::StrCat(
      writing == Writing::kRecording && IsRecorded(fd)
          ? "the program still runs"
          : "the collector is still writing",
      "; this is the state at ",
      absl::FormatTime("%H:%M:%S", absl::Now(), absl::LocalTimeZone()));
}

int SayResultOf(int fd, const Console& console, absl::string_view name,
                const absl::Status& status, const ReadResult& result) {
  const bool no_end = status.ok() && result.objects == 0 &&
                      result.damages == 0 && !result.has_footer &&
                      !result.stopped;
  const std::string why = no_end ? WhyNoEnd(fd) : "";
  if (why.empty()) return SayResult(console, name, status, result);
  console.Say(absl::StrCat(name, ": no footer: ", why));
  return kExitOk;
}

// The writer holds a lock on the file, see WritingOf(). There is no notice of
// its end, so the lock is asked for repeatedly.
Writing WaitForWriter(int fd, absl::Duration patience,
                      absl::FunctionRef<bool(absl::Duration)> goes_on) {
  constexpr absl::Duration kLookEach = absl::Milliseconds(10);
  const absl::Time start = absl::Now();
  for (;;) {
    const Writing writing = WritingOf(fd);
    if (writing == Writing::kNo) return writing;
    // A file without a header: the program is about to start.
    if (writing == Writing::kRecording && IsRecorded(fd)) return writing;
    const absl::Duration waited = absl::Now() - start;
    if (waited >= patience || !goes_on(waited)) return Writing::kFinishing;
    absl::SleepFor(kLookEach);
  }
}

// Whether the process exists is asked only when the file has been still for
// long enough: that takes system calls.
bool FollowWatch::IsOver(uint64_t bytes_read, absl::Time now) {
  if (bytes_read != bytes_read_ || since_ == absl::InfinitePast()) {
    bytes_read_ = bytes_read;
    since_ = now;
  }
  return now - since_ >= kPatience && is_dead_();
}

}  // namespace pymemrun
