#include "tracer/base/own_memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pymemrun {
namespace {

struct Range {
  uintptr_t start;
  uintptr_t end;
};
constexpr int kMaxRanges = 16;
Range g_ranges[kMaxRanges];
int g_range_count = 0;

bool Overlaps(uintptr_t start, uintptr_t end) {
  for (int i = 0; i < g_range_count; ++i) {
    if (start < g_ranges[i].end && g_ranges[i].start < end) return true;
  }
  return false;
}

uintptr_t ParseHex(const char** text) {
  uintptr_t value = 0;
  for (;; ++*text) {
    const char c = **text;
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uintptr_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uintptr_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

// Reads smaps line by line. A line is a mapping's first ("start-end perms ...")
// or one of its fields ("Rss:  12 kB").
struct SmapsSum {
  bool ours = false;
  uint64_t bytes = 0;

  void Line(const char* line) {
    const char* p = line;
    const uintptr_t start = ParseHex(&p);
    if (p != line && *p == '-') {
      ++p;
      ours = Overlaps(start, ParseHex(&p));
    } else if (ours && strncmp(line, "Rss:", 4) == 0) {
      uint64_t kilobytes = 0;
      for (p = line + 4; *p != '\0' && *p != 'k'; ++p) {
        if (*p >= '0' && *p <= '9') {
          kilobytes = kilobytes * 10 + static_cast<uint64_t>(*p - '0');
        }
      }
      bytes += kilobytes * 1024;
    }
  }
};

}  // namespace

void OwnMemory::Add(const void* start, size_t bytes) {
  if (start == nullptr || bytes == 0 || g_range_count == kMaxRanges) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(start);
  g_ranges[g_range_count++] = {begin, begin + bytes};
}

void* OwnMemory::Map(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  bytes = (bytes + page - 1) & ~(page - 1);
  char* memory = static_cast<char*>(mmap(nullptr, bytes + 2 * page, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return nullptr;
  memory += page;
  if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // Small pages: a huge one would come and go as the kernel likes.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += page) {
    static_cast<volatile char*>(memory)[at] = 0;
  }
  Add(memory, bytes);
  return memory;
}

uint64_t OwnMemory::ResidentBytes() {
  const int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  SmapsSum sum;
  char buffer[8192];
  size_t held = 0;
  for (;;) {
    const ssize_t n = read(fd, buffer + held, sizeof(buffer) - 1 - held);
    if (n <= 0) break;
    held += static_cast<size_t>(n);
    buffer[held] = '\0';
    char* line = buffer;
    for (char* end; (end = strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = '\0';
      sum.Line(line);
    }
    held = static_cast<size_t>(buffer + held - line);
    if (held == sizeof(buffer) - 1) held = 0;  // a path longer than the buffer
    memmove(buffer, line, held);
  }
  close(fd);
  return sum.bytes;
}

}  // namespace pymemrun
