#include "tracer/objects/mapped_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace pymemrun {
namespace {

// A line of /proc/self/maps, cut.
struct MapsLine {
  char text[192];
  size_t bytes = 0;

  void Add(char c) {
    if (bytes + 1 < sizeof(text)) text[bytes++] = c;
  }
  bool Has(uint64_t address) {
    text[bytes] = '\0';
    char* rest = nullptr;
    const uint64_t begin = strtoull(text, &rest, 16);
    return *rest == '-' && address >= begin &&
           address < strtoull(rest + 1, nullptr, 16);
  }
  // What has the name of a file may be shared memory.
  bool IsOfFile() const {
    const char* const path = strchr(text, '/');
    if (path == nullptr) return false;
    for (const char* const memory :
         {"/dev/zero", "/dev/shm/", "/memfd:", "/SYSV", "/anon_hugepage"}) {
      if (strncmp(path, memory, strlen(memory)) == 0) return false;
    }
    return true;
  }
};

}  // namespace

bool MappedMemory::IsOfFile(uint64_t address) {
  const int fd = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (fd < 0) return true;
  MapsLine line;
  bool is_found = false;
  char buffer[4096];
  while (!is_found && text_left_ >= sizeof(buffer)) {
    const auto bytes = syscall(SYS_read, fd, buffer, sizeof(buffer));
    if (bytes <= 0) break;
    text_left_ -= static_cast<uint64_t>(bytes);
    for (auto i = 0 * bytes; i < bytes && !is_found; ++i) {
      if (buffer[i] != '\n') {
        line.Add(buffer[i]);
      } else if (line.Has(address)) {
        is_found = true;
      } else {
        line.bytes = 0;
      }
    }
  }
  syscall(SYS_close, fd);
  return !is_found || line.IsOfFile();
}

size_t MappedMemory::ResidentBytes(const void* at, size_t bytes) {
  constexpr size_t kAtOnce = 4096;
  const auto page_bytes = static_cast<size_t>(getpagesize());
  const auto address = reinterpret_cast<uint64_t>(at);
  uint64_t left = (bytes + page_bytes - 1) / page_bytes;
  if (left == 0 || left > pages_left_ || IsOfFile(address)) return 0;
  pages_left_ -= left;
  unsigned char is_there[kAtOnce];
  size_t resident = 0;
  for (uint64_t next = address; left > 0;) {
    const size_t pages = std::min<uint64_t>(left, kAtOnce);
    if (syscall(SYS_mincore, next, pages * page_bytes, is_there) != 0) break;
    for (size_t i = 0; i < pages; ++i) resident += is_there[i] & 1;
    next += pages * page_bytes;
    left -= pages;
  }
  return resident * page_bytes;
}

}  // namespace pymemrun
