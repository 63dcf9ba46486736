#include "launcher/session/output_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "format/lock/writer_lock.h"
#include "launcher/session/message.h"

namespace pymemrun {
namespace {

constexpr char kDefaultName[] = "run.pb";
// The start name is also kept beside the file's content where the file system
// can. So a file still without a header can be told and renamed.
constexpr char kStartAttribute[] = "user.pymemrun.start";
constexpr char kNameAnother[] = "; choose another with -o PATH";
constexpr int kAttempts = 10;  // lost races against other runs' renames
constexpr int kMostNumbers = 100000;

std::string Reason(int error) { return std::strerror(error); }

std::string AbsolutePath(const std::string& path, std::string* error) {
  if (!path.empty() && path[0] == '/') return path;
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == nullptr) {
    *error = "cannot create " + path + ": no current folder: " + Reason(errno);
    return {};
  }
  return std::string(folder) + (std::strcmp(folder, "/") ? "/" : "") + path;
}

bool IsStartName(const std::string& name) {
  // YYYYMMDD_HHMMSS_PID
  if (name.size() < 17 || name.size() > 40) return false;
  for (size_t i = 0; i < name.size(); ++i) {
    bool separator = i == 8 || i == 15;
    bool digit = name[i] >= '0' && name[i] <= '9';
    if (separator ? name[i] != '_' : !digit) return false;
  }
  return true;
}

// The start name of the file's run; empty: it is no run file. The attribute
// answers at once; without it the collector's program reads the header.
std::string StartNameOfFile(const std::string& path, const struct stat& status,
                            const NameOfRunFile& name_of) {
  char value[64];
  ssize_t size = lgetxattr(path.c_str(), kStartAttribute, value, sizeof value);
  std::string name(value, size > 0 ? static_cast<size_t>(size) : 0);
  if (IsStartName(name)) return name;
  // Perhaps a run that has only just begun: nothing tells its pid.
  if (status.st_size == 0) return StartName(status.st_mtime, 0);
  name = name_of ? name_of(path) : "";
  return IsStartName(name) ? name : "";
}

// 0, or why the file cannot be read. O_NONBLOCK keeps open(2) from waiting for
// the other end of a pipe.
int WhyUnreadable(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

// Removes what is at `path`. False: *error.
bool Replace(const std::string& path, std::string* error) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return true;
  *error = "cannot replace " + path + ": " + Reason(errno) + kNameAnother;
  return false;
}

int RenameWithoutReplacing(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(),
                RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) return errno;
  // A file system without that flag: a hard link fails on an existing name too.
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  return unlink(from.c_str()) == 0 ? 0 : errno;
}

// The names of dumps of the object graph that a run with this file makes, and
// of their indexes, without folder and stem: ".obj.pb", ".obj-12.pb.idx".
bool IsDumpEnding(std::string_view ending) {
  if (!ending.starts_with(".obj")) return false;
  ending.remove_prefix(4);
  if (ending.ends_with(".idx")) ending.remove_suffix(4);
  if (!ending.ends_with(".pb")) return false;
  ending.remove_suffix(3);
  return ending.empty() ||
         (ending[0] == '-' && ending.size() > 1 &&
          ending.find_first_not_of("0123456789", 1) == std::string_view::npos);
}

// Whether the file begins as a dump or, by its name, as an index of one does:
// what else has such a name is the user's own.
bool BeginsAsDump(const std::string& path) {
  constexpr std::string_view kFrame = "\x28\xb5\x2f\xfd";  // zstd's
  constexpr std::string_view kIndex = "pymemox1";
  const std::string_view start = path.ends_with(".idx") ? kIndex : kFrame;
  const int fd =
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  char bytes[kIndex.size()];
  const ssize_t size = pread(fd, bytes, start.size(), 0);
  close(fd);
  return size > 0 && std::string_view(bytes, size) == start;
}

std::string_view StemOf(std::string_view path) {
  if (path.ends_with(".pb")) path.remove_suffix(3);
  return path;
}

// The dumps beside the run file at this absolute path, and their indexes:
// without the stem that they have in common with it.
std::vector<std::string> DumpEndings(const std::string& path) {
  const size_t slash = path.rfind('/') + 1;
  const std::string_view stem = StemOf(path).substr(slash);
  std::vector<std::string> endings;
  DIR* const folder = opendir(path.substr(0, slash).c_str());
  if (folder == nullptr) return endings;
  while (const dirent* entry = readdir(folder)) {
    std::string_view name = entry->d_name;
    if (!name.starts_with(stem)) continue;
    name.remove_prefix(stem.size());
    if (!IsDumpEnding(name)) continue;
    if (BeginsAsDump(path.substr(0, slash) + entry->d_name)) {
      endings.emplace_back(name);
    }
  }
  closedir(folder);
  return endings;
}

// Dumps go where their run went: what is named as a run file says is of it.
void MoveDumps(const std::string& path, const std::string& to) {
  for (const std::string& ending : DumpEndings(path)) {
    RenameWithoutReplacing(std::string(StemOf(path)) + ending,
                           std::string(StemOf(to)) + ending);
  }
}

// Replaces a run file and the dumps of its run. False: *error.
bool ReplaceRun(const std::string& path, const NameOfRunFile& name_of,
                std::string* error) {
  if (!Replace(path, error)) return false;
  for (const std::string& ending : DumpEndings(path)) {
    const std::string dump = std::string(StemOf(path)) + ending;
    // Other files are zstd frames too: a dump's header tells its run.
    const bool is_ours =
        ending.ends_with(".idx") || (name_of && IsStartName(name_of(dump)));
    if (is_ours) unlink(dump.c_str());
  }
  return true;
}

// False: *error.
bool RefuseOther(const std::string& path, std::string* error) {
  const int unreadable = WhyUnreadable(path);
  *error = path + " exists and " +
           (unreadable != 0 ? "cannot be read: " + Reason(unreadable)
                            : "is not a run file") +
           kNameAnother;
  return false;
}

// Whether nothing but a run can be lost with the file. The attribute stays
// where somebody puts other content into a run's file.
bool IsRunOrEmpty(const std::string& path, const struct stat& status,
                  const NameOfRunFile& name_of) {
  if (status.st_size == 0) return true;
  if (!BeginsAsDump(path)) return false;
  return !StartNameOfFile(path, status, name_of).empty();
}

// Two runs may begin in one folder at the same time, and each finds the other's
// renames. So a name that is gone is a success, and a taken one gets a number.
bool MoveAside(const std::string& path, const struct stat& status,
               const OutputRequest& request, std::string* error) {
  std::string name = StartNameOfFile(path, status, request.name_of);
  if (name.empty()) return RefuseOther(path, error);
  std::string folder = path.substr(0, path.rfind('/') + 1);
  std::string stem = folder + "old-run." + name;
  std::string to = stem + ".pb";
  for (int i = 1; i <= kAttempts; ++i) {
    int failure = RenameWithoutReplacing(path, to);
    if (failure == 0) MoveDumps(path, to);
    if (failure == 0 || failure == ENOENT) return true;  // or another run did
    if (failure != EEXIST || i == kAttempts) {
      *error = "cannot rename " + path + " to " + to + ": " + Reason(failure) +
               kNameAnother;
      return false;
    }
    to = stem + "-" + std::to_string(i) + ".pb";  // two copies of one run
  }
  return false;
}

// Makes way for a new file at `path`, where something is. False: *error.
bool MakeWay(const std::string& path, const OutputRequest& request,
             std::string* error) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return true;  // gone by now
  if (!S_ISREG(status.st_mode)) {
    *error = path + " exists and is not a regular file";
    return false;
  }
  if (request.pattern.empty()) return MoveAside(path, status, request, error);
  if (!IsRunOrEmpty(path, status, request.name_of)) {
    return RefuseOther(path, error);
  }
  if (!request.force) {
    *error = path + " exists already; --force replaces it";
    return false;
  }
  return ReplaceRun(path, request.name_of, error);
}

int CreateFile(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
              0600);
}

// Makes the new file what it is to be.
int MakeOurs(int fd, const RunIdentity& identity) {
  fchmod(fd, 0600);  // the umask may have taken bits away
  SetWriting(fd, Writing::kRecording);
  std::string start = StartName(identity.start, identity.pid);
  fsetxattr(fd, kStartAttribute, start.data(), start.size(), 0);
  return fd;
}

// Without a descriptor what is there keeps its place.
int CannotCreate(const std::string& path, std::string* error) {
  const int why = errno;
  const bool lacks_descriptors = why == EMFILE || why == ENFILE;
  *error = "cannot create " + path + ": " + ErrorText(why);
  if (lacks_descriptors && access(path.c_str(), F_OK) == 0) {
    *error += "; the file there is an earlier one";
  }
  return lacks_descriptors ? kNoDescriptors : -1;
}

}  // namespace

std::string NameWith(const std::string& added, const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // 0 without a slash
  const size_t dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + added + path.substr(at);
}

std::string ProgramName(const std::string& target_path) {
  std::string name = target_path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  name.erase(0, name.rfind('/') + 1);
  size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) {
    std::string ending = name.substr(dot);
    if (ending == ".py" || ending == ".pyc" || ending == ".pyz") {
      name.resize(dot);
    }
  }
  return name.empty() || name == "." || name == ".." ? "program" : name;
}

std::string StartName(time_t start, pid_t pid) {
  struct tm local = {};
  localtime_r(&start, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &local);
  return std::string(text) + "_" + std::to_string(pid);
}

// One pass, so that a value with braces in it is not expanded again.
std::string ExpandOutputName(const std::string& pattern,
                             const RunIdentity& identity,
                             const std::string& pid) {
  std::string time = StartName(identity.start, identity.pid).substr(0, 15);
  const std::pair<const char*, std::string> fields[] = {
      {"{pid}", pid.empty() ? std::to_string(identity.pid) : pid},
      {"{time}", time},
      {"{name}", identity.name},
      {"{host}", identity.host}};
  std::string out;
  for (size_t i = 0; i < pattern.size();) {
    bool replaced = false;
    for (auto [field, value] : fields) {
      if (pattern.compare(i, std::strlen(field), field) != 0) continue;
      std::replace(value.begin(), value.end(), '/', '_');
      out += value;
      i += std::strlen(field);
      replaced = true;
      break;
    }
    if (!replaced) out += pattern[i++];
  }
  return out;
}

// O_EXCL makes each attempt atomic; taken numbers are skipped one by one.
int CreateNumberedFile(const RunIdentity& identity, std::string* path,
                       std::string* error) {
  int fd = CreateFile(*path);
  const std::string taken = *path;
  for (int i = 1; fd < 0 && errno == EEXIST && i <= kMostNumbers; ++i) {
    *path = NameWith("-" + std::to_string(i), taken);
    fd = CreateFile(*path);
  }
  return fd < 0 ? CannotCreate(*path, error) : MakeOurs(fd, identity);
}

// Create, and if the name is taken, make way and try again: another run may
// take the name in between.
int CreateOutputFile(const OutputRequest& request, std::string* path,
                     std::string* error) {
  std::string name = request.pattern.empty()
                         ? kDefaultName
                         : ExpandOutputName(request.pattern, request.identity);
  *path = AbsolutePath(name, error);
  if (path->empty()) return -1;
  if (request.numbered) {
    return CreateNumberedFile(request.identity, path, error);
  }
  for (int i = 0; i < kAttempts; ++i) {
    const int fd = CreateFile(*path);
    if (fd >= 0) return MakeOurs(fd, request.identity);
    if (errno != EEXIST) break;
    if (!MakeWay(*path, request, error)) return -1;
  }
  return CannotCreate(*path, error);
}

}  // namespace pymemrun
