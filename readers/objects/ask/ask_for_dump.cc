#include "readers/objects/ask/ask_for_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "format/stream/byte_io.h"
#include "format/stream/status_util.h"
#include "format/stream/stream_reader.h"
#include "format/trace.pb.h"
#include "readers/watch/traced_process.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(20);
// A file that has not grown for this long may be on a full disk.
constexpr absl::Duration kStandsStill = absl::Seconds(1);
// The descriptor of a collector's run file, as the launcher arranges it
// (collector/session/collector_start.h), and the signal for a request.
constexpr int kOutputFd = 4, kAsk = SIGURG;

// Owns a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(long fd) : fd_(static_cast<int>(fd)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Whether the process has ended; it may be a zombie. A pidfd becomes readable
// when its process ends, see pidfd_open(2).
bool HasEnded(const Descriptor& process) {
  pollfd entry = {process.get(), POLLIN, 0};
  return poll(&entry, 1, 0) != 0;
}

uint64_t MonotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t{1000000000} * now.tv_sec + now.tv_nsec;
}

// The value of a line in /proc/PID/status; empty if it cannot be read.
std::string StatusOf(pid_t pid, absl::string_view name) {
  const Descriptor file(open(absl::StrCat("/proc/", pid, "/status").c_str(),
                             O_RDONLY | O_CLOEXEC));
  char buffer[8192];
  const ssize_t size =
      file.get() < 0 ? 0 : read(file.get(), buffer, sizeof(buffer));
  const absl::string_view text(buffer, std::max<ssize_t>(size, 0));
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, name)) {
      return std::string(line.substr(name.size()));
    }
  }
  return "";
}

// Root may ask any process.
bool IsAnothers(pid_t pid) {
  const std::string ids = StatusOf(pid, "Uid:\t");
  uint64_t own = 0;
  return geteuid() != 0 &&
         absl::SimpleAtoi(ids.substr(0, ids.find('\t')), &own) &&
         own != geteuid();
}

// Whether the process has a handler for the signal. SigCgt is a mask in
// hexadecimal, see proc(5). An older collector has none, and would ignore the
// request.
bool Catches(pid_t pid, int signal) {
  uint64_t caught = 0;
  return absl::SimpleHexAtoi(StatusOf(pid, "SigCgt:\t"), &caught) &&
         (caught >> (signal - 1) & 1) != 0;
}

// Opens a regular file. O_NONBLOCK: opening a FIFO would wait for its writer.
absl::StatusOr<Descriptor> OpenFile(const std::string& path, int flags) {
  Descriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) {
    return absl::UnavailableError(strerror(errno));
  }
  if (!S_ISREG(info.st_mode)) {
    return absl::UnavailableError("expected a file, found something else");
  }
  return file;
}

// Reads the records of a growing file.
class Growing {
 public:
  explicit Growing(Descriptor file)
      : file_(std::move(file)),
        source_(file_.get()),
        reader_(StreamReader::Create(&source_, {})) {}

  // The next record that can be parsed; nothing: the file has no more now.
  // Fails if the file cannot be read.
  // Damage is passed over: only the end of the file, or a failure to read, ends
  // the loop.
  absl::StatusOr<const Record*> Next() {
    for (;;) {
      absl::string_view bytes;
      const StreamReader::Result result = reader_->Next(&bytes);
      if (result == StreamReader::Result::kRecord) {
        if (!record_.ParseFromArray(bytes.data(),
                                    static_cast<int>(bytes.size()))) {
          continue;
        }
        return &record_;
      }
      if (result != StreamReader::Result::kDamage) return nullptr;
      const absl::Status& status = reader_->damage().status;
      if (!absl::IsDataLoss(status)) return status;
    }
  }
  uint64_t size_bytes() const {
    struct stat info;
    return fstat(file_.get(), &info) == 0 ? info.st_size : 0;
  }
  // Whether the file has not grown for a while, and its disk is full.
  bool LacksRoom() {
    const uint64_t bytes = size_bytes();
    if (bytes != seen_bytes_) grown_ = absl::Now();
    seen_bytes_ = bytes;
    struct statvfs disk;
    return absl::Now() - grown_ > kStandsStill &&
           fstatvfs(file_.get(), &disk) == 0 && disk.f_blocks > 0 &&
           uint64_t{disk.f_bavail} * disk.f_frsize < 4096;
  }

 private:
  const Descriptor file_;
  FdSource source_;
  const std::unique_ptr<StreamReader> reader_;
  Record record_;
  uint64_t seen_bytes_ = 0;
  absl::Time grown_ = absl::Now();
};

// One request: finds the collector, asks it, and follows the run file and then
// the dump. Every step has its own message for the user.
class Request {
 public:
  Request(pid_t pid, absl::Duration timeout)
      : pid_(pid),
        // A pidfd refers to the process itself, even if its pid is reused.
        program_(syscall(SYS_pidfd_open, pid, 0)),
        open_errno_(program_.get() < 0 ? errno : 0),
        timeout_(timeout) {}

  absl::StatusOr<DumpMade> Make();

 private:
  absl::Status Find();
  absl::Status Send();
  absl::Status WaitForBegin();
  absl::StatusOr<bool> ReadRun();
  absl::StatusOr<DumpMade> WaitForEnd();
  absl::StatusOr<bool> ReadDump();

  const pid_t pid_;
  const Descriptor program_;
  const int open_errno_;
  const absl::Duration timeout_;
  absl::Time end_;
  TracedBy traced_;
  std::optional<Descriptor> collector_;
  std::optional<Growing> run_, dump_;
  std::string run_name_;
  uint64_t asked_ns_ = 0, run_start_ns_ = 0;
  std::optional<ObjectsUnderWay> begun_;
  std::optional<ObjectsEnd> ended_;
  std::string problem_;  // problem with the dump, if the run file reports one
};

// Each way in which the program cannot be asked has a message of its own.
absl::Status Request::Find() {
  if (open_errno_ == ESRCH || (open_errno_ == 0 && HasEnded(program_))) {
    return absl::NotFoundError("expected a process, found none of that number");
  }
  if (open_errno_ != 0) {
    return absl::NotFoundError(absl::StrCat("expected a process, found none: ",
                                            strerror(open_errno_)));
  }
  if (IsAnothers(pid_)) {
    return absl::PermissionDeniedError(
        "expected a process of your own, found another user's");
  }
  ASSIGN_OR_RETURN(traced_, CollectorOf(pid_));
  collector_.emplace(syscall(SYS_pidfd_open, traced_.collector, 0));
  // Checked while a handle of the process is held, so that its pid is not
  // reused.
  if (collector_->get() < 0 || !IsCollectorOf(traced_.collector, pid_) ||
      HasEnded(*collector_)) {
    return absl::NotFoundError(
        "expected a process that pymemrun is tracing, found one whose "
        "collector has ended");
  }
  if (!Catches(traced_.collector, kAsk)) {
    return absl::FailedPreconditionError(
        "expected a process that can be asked for dumps, found one traced by "
        "an older pymemrun");
  }
  return absl::OkStatus();
}

// Reads first, then asks: so no record is missed.
absl::Status Request::Send() {
  const std::string path =
      absl::StrCat("/proc/", traced_.collector, "/fd/", kOutputFd);
  std::error_code error;
  run_name_ = std::filesystem::read_symlink(path, error).string();
  auto file = OpenFile(path, 0);
  if (!file.ok()) {
    return absl::UnavailableError(
        absl::StrCat("its run file: ", file.status().message()));
  }
  run_.emplace(*std::move(file));
  // Dumps that started before this time are not the one requested.
  asked_ns_ = MonotonicNs();
  if (syscall(SYS_pidfd_send_signal, collector_->get(), kAsk, nullptr, 0) !=
      0) {
    return absl::UnavailableError(
        absl::StrCat("its collector cannot be asked: ", strerror(errno)));
  }
  return absl::OkStatus();
}

// Reads the records of the run file. Returns whether the requested dump has
// started. Fails if it could not be made.
absl::StatusOr<bool> Request::ReadRun() {
  for (;;) {
    ASSIGN_OR_RETURN(const Record* const record, run_->Next());
    if (record == nullptr) return begun_.has_value();
    if (record->has_header()) {
      run_start_ns_ = record->header().start_monotonic_ns();
    }
    // The end of the requested dump, with what went wrong.
    if (record->has_objects_dumped() && begun_.has_value() &&
        record->objects_dumped().time_us() == begun_->time_us()) {
      problem_ = record->objects_dumped().problem();
    }
    if (!record->has_objects_under_way() || begun_.has_value()) continue;
    // Times in the file count from the run's start, on the same clock.
    const uint64_t asked_us =
        (asked_ns_ - std::min(asked_ns_, run_start_ns_)) / 1000;
    if (record->objects_under_way().time_us() < asked_us) continue;
    begun_ = record->objects_under_way();
  }
}

absl::Status Request::WaitForBegin() {
  for (;;) {
    // Asked before reading, so that the last records are not missed.
    const bool over = HasEnded(*collector_);
    ASSIGN_OR_RETURN(const bool begun, ReadRun());
    if (begun) return absl::OkStatus();
    if (over) {
      return absl::AbortedError("the program ended before it made the dump");
    }
    // A dump that started may have filled the disk before that was reported.
    if (run_->LacksRoom()) {
      return absl::AbortedError(
          absl::StrCat(TerminalText(run_name_), ": ", strerror(ENOSPC)));
    }
    if (absl::Now() >= end_) {
      return absl::DeadlineExceededError(absl::StrCat(
          "expected a dump within ", absl::FormatDuration(timeout_),
          ", found none: its main thread does not return to Python code, or "
          "another dump is under way"));
    }
    absl::SleepFor(kPoll);
  }
}

absl::StatusOr<bool> Request::ReadDump() {
  for (;;) {
    ASSIGN_OR_RETURN(const Record* const record, dump_->Next());
    if (record == nullptr) return ended_.has_value();
    if (record->has_objects_end()) ended_ = record->objects_end();
  }
}

// The dump may be large, and the program goes on while it is written by a
// forked child. So the dump's own last record is awaited, not the program.
absl::StatusOr<DumpMade> Request::WaitForEnd() {
  const std::string name = TerminalText(begun_->path());
  // The path comes from the run file: a symbolic link there is not followed.
  auto file = OpenFile(begun_->path(), O_NOFOLLOW);
  if (!file.ok()) {
    return absl::UnavailableError(
        absl::StrCat(name, ": ", file.status().message()));
  }
  dump_.emplace(*std::move(file));
  for (;;) {
    ASSIGN_OR_RETURN(bool done, ReadDump());
    if (done) break;
    // The run file may lack room to report it, too.
    if (dump_->LacksRoom()) {
      return absl::AbortedError(absl::StrCat(name, ": ", strerror(ENOSPC)));
    }
    // The run file reports problems that the dump itself cannot.
    RETURN_IF_ERROR(ReadRun().status());
    if (!problem_.empty()) {
      return absl::AbortedError(
          absl::StrCat(name, ": ", TerminalText(problem_)));
    }
    if (absl::Now() >= end_) {
      return absl::DeadlineExceededError(
          absl::StrCat(name, ": expected the end of the dump within ",
                       absl::FormatDuration(timeout_), ", found none yet"));
    }
    absl::SleepFor(kPoll);
  }
  if (ended_->outcome() == ObjectsEnd::COMPLETE) {
    return DumpMade{begun_->path(), begun_->pause_us(), ended_->duration_us(),
                    ended_->objects(), dump_->size_bytes()};
  }
  const std::string why =
      ended_->outcome() == ObjectsEnd::CRASHED
          ? absl::StrCat("by signal ", ended_->signal(),
                         " while an object listed its references")
      : ended_->outcome() == ObjectsEnd::NO_MEMORY
          ? "because memory ran out"
          : "when its process was killed, as happens when memory runs out";
  return absl::AbortedError(absl::StrCat(name, ": the dump was cut off ", why));
}

absl::StatusOr<DumpMade> Request::Make() {
  RETURN_IF_ERROR(Find());
  end_ = absl::Now() + timeout_;
  RETURN_IF_ERROR(Send());
  RETURN_IF_ERROR(WaitForBegin());
  if (begun_->problem().empty()) return WaitForEnd();
  const std::string path = TerminalText(begun_->path());
  return absl::AbortedError(absl::StrCat(path, path.empty() ? "" : ": ",
                                         TerminalText(begun_->problem())));
}

}  // namespace

absl::StatusOr<DumpMade> AskForDump(pid_t pid, absl::Duration timeout) {
  return Request(pid, timeout).Make();
}

}  // namespace pymemrun
