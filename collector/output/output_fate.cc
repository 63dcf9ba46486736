#include "collector/output/output_fate.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace pymemrun {
namespace {

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// As the kernel knows it; empty: not known, or another file's by now.
std::string PathOf(int fd, const struct stat& file) {
  char path[PATH_MAX];
  const std::string link = absl::StrCat("/proc/self/fd/", fd);
  const ssize_t size = readlink(link.c_str(), path, sizeof(path));
  if (size <= 0 || size == sizeof(path)) return {};
  const std::string found(path, static_cast<size_t>(size));
  struct stat there;
  const bool is_there =
      lstat(found.c_str(), &there) == 0 && SameFile(there, file);
  return is_there ? found : std::string();
}

}  // namespace

OutputFate FateOfOutput(int fd, const std::string& path) {
  OutputFate fate{.path = path};
  struct stat file, there;
  if (!absl::StartsWith(path, "/") || fstat(fd, &file) != 0 ||
      !S_ISREG(file.st_mode)) {
    return fate;
  }
  if (file.st_nlink == 0) {
    fate.name = Footer::OUTPUT_DELETED;
    return fate;
  }
  const bool seen = lstat(path.c_str(), &there) == 0;
  if (seen ? SameFile(there, file) : errno != ENOENT && errno != ENOTDIR) {
    return fate;
  }
  fate.name = Footer::OUTPUT_MOVED;
  const std::string now = PathOf(fd, file);
  if (!now.empty()) fate.path = now;
  return fate;
}

}  // namespace pymemrun
