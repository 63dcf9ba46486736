#include "tracer/base/container_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pymemrun {
namespace {

// For the pages that the copy writes itself.
constexpr uint64_t kCopyBytes = uint64_t{4} << 20;
// Pages that the program writes while the copy lives exist twice. When the
// container is full the kernel ends the copy. But it may look for a second
// process to end before it has freed the pages of the first. So there must be
// some room.
constexpr uint64_t kPartOfMemory = 16;

// File names and fields of the two versions of control groups, see cgroups(7).
struct Names {
  const char* limit;
  const char* used;
  const char* cached[2];  // files, by what is in memory.stat
  const char* mapped;
};
constexpr Names kFirst = {"memory.limit_in_bytes",
                          "memory.usage_in_bytes",
                          {"\ntotal_inactive_file ", "\ntotal_active_file "},
                          "\ntotal_mapped_file "};
constexpr Names kSecond = {"memory.max",
                           "memory.current",
                           {"\ninactive_file ", "\nactive_file "},
                           "\nfile_mapped "};

// By system calls, because the functions of libc are interposed. Returns false
// and an empty text if the file cannot be read.
bool ReadText(const char* path, char* text, size_t size) {
  text[0] = '\0';
  const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return false;
  size_t filled = 0;
  long bytes = 0;
  while (filled + 1 < size && (bytes = syscall(SYS_read, fd, text + filled,
                                               size - 1 - filled)) > 0) {
    filled += static_cast<size_t>(bytes);
  }
  syscall(SYS_close, fd);
  text[filled] = '\0';
  return filled > 0;
}

// Returns false if the text does not begin with a digit, as in "max".
bool ReadNumber(const char* text, uint64_t* number) {
  while (*text == ' ' || *text == '\t') ++text;
  if (*text < '0' || *text > '9') return false;
  *number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    *number = 10 * *number + static_cast<uint64_t>(*text - '0');
  }
  return true;
}

uint64_t NumberAfter(const char* text, const char* name) {
  uint64_t number = 0;
  const char* const found = strstr(text, name);
  if (found != nullptr) ReadNumber(found + strlen(name), &number);
  return number;
}

// a - b, but at least 0: the kernel's figures are not of one moment.
uint64_t Difference(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

// Bytes left in the group whose folder is `path` up to `end`. The kernel can
// drop cached files that no process has mapped, so these count as free.
uint64_t LeftIn(char* path, char* end, const Names& names) {
  char text[8192];
  const size_t room = static_cast<size_t>(path + PATH_MAX - end);
  const auto read = [&](const char* name) {
    snprintf(end, room, "/%s", name);
    const bool there = ReadText(path, text, sizeof(text));
    *end = '\0';
    return there;
  };
  uint64_t limit = 0, used = 0;
  if (!read(names.limit) || !ReadNumber(text, &limit) || !read(names.used) ||
      !ReadNumber(text, &used)) {
    return ContainerMemory::kNoLimit;
  }
  read("memory.stat");
  const uint64_t cached =
      NumberAfter(text, names.cached[0]) + NumberAfter(text, names.cached[1]);
  const uint64_t mapped = NumberAfter(text, names.mapped);
  return Difference(limit + Difference(cached, mapped), used);
}

// The least of the group and all groups around it. Inside a container the path
// may be that of the host. Then only the root folder exists, which is the
// container's own group.
uint64_t LeftFrom(const char* root, const char* below, const char* group,
                  const Names& names) {
  char path[PATH_MAX];
  const int bytes = snprintf(path, sizeof(path), "%s%s%s", root, below, group);
  if (bytes < 0 || static_cast<size_t>(bytes) >= sizeof(path)) {
    return ContainerMemory::kNoLimit;
  }
  uint64_t least = ContainerMemory::kNoLimit;
  char* const first = path + strlen(root) + strlen(below);
  for (char* end = path + bytes;;) {
    while (end > first && end[-1] == '/') *--end = '\0';
    const uint64_t left = LeftIn(path, end, names);
    if (left < least) least = left;
    if (end == first) return least;
    while (end > first && *end != '/') --end;
    *end = '\0';
  }
}

// Whether one of the names between commas is "memory".
bool HasMemory(const char* controllers) {
  const char* const found = strstr(controllers, "memory");
  return found != nullptr && (found == controllers || found[-1] == ',') &&
         (found[6] == '\0' || found[6] == ',');
}

}  // namespace

// Lines of /proc/self/cgroup are "id:controllers:path" (cgroups(7)). The second
// version has no controllers in its line.
uint64_t ContainerMemory::Left(const char* groups, const char* root) {
  char text[8192];
  ReadText(groups, text, sizeof(text));
  uint64_t least = kNoLimit;
  char* rest = nullptr;
  for (char* line = strtok_r(text, "\n", &rest); line != nullptr;
       line = strtok_r(nullptr, "\n", &rest)) {
    char* const controllers = strchr(line, ':');
    char* const group =
        controllers == nullptr ? nullptr : strchr(controllers + 1, ':');
    if (group == nullptr) continue;
    *group = '\0';
    const bool is_second = controllers[1] == '\0';
    if (!is_second && !HasMemory(controllers + 1)) continue;
    const uint64_t left = LeftFrom(root, is_second ? "" : "/memory", group + 1,
                                   is_second ? kSecond : kFirst);
    if (left < least) least = left;
  }
  return least;
}

uint64_t ContainerMemory::NeededForCopy() {
  char text[4096];
  ReadText("/proc/self/status", text, sizeof(text));
  const uint64_t kilobytes = NumberAfter(text, "\nVmPTE:") +
                             NumberAfter(text, "\nRssAnon:") / kPartOfMemory;
  return kCopyBytes + 1024 * kilobytes;
}

bool ContainerMemory::HasRoomForCopy(char* why, size_t size) {
  const int saved_errno = errno;
  const uint64_t left = Left();
  const uint64_t needed = NeededForCopy();
  if (left < needed) {
    const auto tenths = [](uint64_t bytes) { return bytes * 10 >> 20; };
    snprintf(why, size,
             "not started: the container has %llu.%llu MiB left, and a copy of "
             "the process needs %llu.%llu MiB",
             tenths(left) / 10ull, tenths(left) % 10ull, tenths(needed) / 10ull,
             tenths(needed) % 10ull);
  }
  errno = saved_errno;
  return left >= needed;
}

}  // namespace pymemrun
