#include "readers/output/report_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "absl/memory/memory.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

absl::Status SystemError() { return absl::UnavailableError(strerror(errno)); }

// Whether the name means an open descriptor: its target is written to, and
// never replaced.
bool MeansADescriptor(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" ||
         absl::StartsWith(path, "/dev/fd/") || absl::StartsWith(path, "/proc/");
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return path.substr(0, slash == 0 ? 1 : slash);
}

}  // namespace

// All that can be known is checked now: a report may take minutes, and should
// not fail at its end.
absl::StatusOr<std::unique_ptr<ReplacedFile>> ReplacedFile::Create(
    const std::string& path, mode_t mode) {
  auto file = absl::WrapUnique(new ReplacedFile);
  file->path_ = path;
  file->mode_ = mode;
  // Those names are links; any other link may be a trap.
  const bool follow = MeansADescriptor(path);
  file->is_there_ = fstatat(AT_FDCWD, path.c_str(), &file->there_,
                            follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
  if (!file->is_there_ && errno != ENOENT) return SystemError();
  if (!file->is_there_) {
    if (access(FolderOf(file->path_).c_str(), W_OK | X_OK) != 0) {
      return SystemError();
    }
    return file;
  }
  if (S_ISDIR(file->there_.st_mode)) {
    errno = EISDIR;
    return SystemError();
  }
  if (S_ISLNK(file->there_.st_mode)) {
    return absl::UnavailableError("is a symbolic link: name the file itself");
  }
  if (access(file->path_.c_str(), W_OK) != 0) return SystemError();
  file->is_plain_ = S_ISREG(file->there_.st_mode) && !follow;
  if (file->is_plain_ &&
      access(FolderOf(file->path_).c_str(), W_OK | X_OK) != 0) {
    return SystemError();
  }
  return file;
}

ReplacedFile::~ReplacedFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_path_.empty()) unlink(temporary_path_.c_str());
}

// A plain file is written under a temporary name beside it, on the same file
// system: rename(2) then replaces it at once.
absl::Status ReplacedFile::Open() {
  std::string path = path_;
  int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;
  if (!MeansADescriptor(path_)) flags |= O_NOFOLLOW;
  if (is_plain_) {
    path = absl::StrCat(path_, ".", getpid(), ".tmp");
    flags |= O_CREAT | O_EXCL;
  } else {
    flags |= O_APPEND;
  }
  fd_ = open(path.c_str(), flags, mode_);
  if (fd_ < 0) return SystemError();
  if (is_plain_) {
    temporary_path_ = path;
    // The umask may have removed bits.
    if (mode_ == 0600) (void)!fchmod(fd_, mode_);
  }
  sink_ = FdSink(fd_);
  return absl::OkStatus();
}

absl::Status ReplacedFile::Append(absl::string_view bytes) {
  if (fd_ < 0) {
    const absl::Status status = Open();
    if (!status.ok()) return status;
  }
  return sink_.Append(bytes);
}

absl::Status ReplacedFile::Commit() {
  if (fd_ < 0) {
    const absl::Status status = Open();
    if (!status.ok()) return status;
  }
  const int fd = fd_;
  fd_ = -1;
  // Some file systems report a full disk only here.
  if (close(fd) != 0) return SystemError();
  if (temporary_path_.empty()) return absl::OkStatus();
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) return SystemError();
  temporary_path_.clear();
  return absl::OkStatus();
}

bool ReplacedFile::Replaces(const std::string& path) const {
  struct stat other;
  const int found =
      path == "-" ? fstat(STDIN_FILENO, &other) : stat(path.c_str(), &other);
  return found == 0 && is_there_ && S_ISREG(there_.st_mode) &&
         other.st_dev == there_.st_dev && other.st_ino == there_.st_ino;
}

}  // namespace pymemrun
