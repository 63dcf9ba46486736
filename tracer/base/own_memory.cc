#include "tracer/base/own_memory.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE  // of Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace pymemrun {
namespace {

enum class RangeKind { kNamed, kTable, kForgotten };  // the last two: tables

// One bit for each of a table's first pages.
constexpr size_t kWrittenWords = 8;

struct Range {
  uintptr_t start;
  uintptr_t end;
  RangeKind kind;
  bool told;                        // of writes; else all may be written
  uint64_t written[kWrittenWords];  // pages, as was told; atomic
};
constexpr int kMaxRanges = 16;
Range g_ranges[kMaxRanges];
int g_range_count = 0;

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Not through the interposed madvise(): it is no doing of the program's.
bool Populate(uintptr_t begin, size_t bytes, int advice) {
  return syscall(SYS_madvise, begin, bytes, advice) == 0;
}

void AddRange(const void* start, size_t bytes, RangeKind kind, bool told) {
  if (start == nullptr || bytes == 0 || g_range_count == kMaxRanges) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(start);
  g_ranges[g_range_count++] = {begin, begin + bytes, kind, told, {}};
}

bool MayBeWritten(const Range& range, size_t page) {
  return !range.told || page >= kWrittenWords * 64 ||
         (range.written[page / 64] >> page % 64 & 1) != 0;
}

bool IsZero(const uint64_t* words, size_t count) {
  uint64_t any = 0;
  for (size_t i = 0; i < count; ++i) any |= words[i];
  return any == 0;
}

// Writes those pages alone that are not zero: the others stay the parent's. To
// look at all of them would take longer than the rest of a short child's start.
void Zero(Range* range) {
  const size_t page = PageBytes();
  for (uintptr_t at = range->start; at < range->end; at += page) {
    if (!MayBeWritten(*range, (at - range->start) / page)) continue;
    auto* const words = reinterpret_cast<uint64_t*>(at);
    if (!IsZero(words, page / sizeof(*words))) memset(words, 0, page);
  }
  memset(range->written, 0, sizeof(range->written));
}

// A table of that size, of zeros where it was told of; or null.
void* TakeForgotten(size_t bytes, bool told) {
  for (int i = 0; i < g_range_count; ++i) {
    Range& range = g_ranges[i];
    if (range.kind != RangeKind::kForgotten || range.told != told ||
        range.end - range.start != bytes) {
      continue;
    }
    Zero(&range);
    range.kind = RangeKind::kTable;
    return reinterpret_cast<void*>(range.start);
  }
  return nullptr;
}

void* MapTable(size_t bytes, bool told) {
  const size_t page = PageBytes();
  bytes = (bytes + page - 1) & ~(page - 1);
  if (void* const again = TakeForgotten(bytes, told)) return again;
  char* memory = static_cast<char*>(mmap(nullptr, bytes + 2 * page, PROT_NONE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (memory == MAP_FAILED) return nullptr;
  memory += page;
  if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // Small pages: a huge one would come and go as the kernel likes.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  OwnMemory::Touch(memory, bytes);
  AddRange(memory, bytes, RangeKind::kTable, told);
  return memory;
}

uint64_t ResidentIn(const Range& range) {
  const size_t page = PageBytes();
  unsigned char there[1024];
  uint64_t pages = 0;
  for (uintptr_t at = range.start & ~(page - 1); at < range.end;) {
    const size_t most = sizeof(there) * page;
    const size_t left = range.end - at;
    const size_t bytes = left < most ? left : most;
    const size_t count = (bytes + page - 1) / page;
    if (mincore(reinterpret_cast<void*>(at), bytes, there) != 0) break;
    for (size_t i = 0; i < count; ++i) pages += there[i] & 1;
    at += count * page;
  }
  return pages * page;
}

}  // namespace

void OwnMemory::Add(const void* start, size_t bytes) {
  AddRange(start, bytes, RangeKind::kNamed, false);
}

void OwnMemory::MapWhatIsThere(void* start, size_t bytes) {
  const uintptr_t begin =
      reinterpret_cast<uintptr_t>(start) & ~(PageBytes() - 1);
  Populate(begin, reinterpret_cast<uintptr_t>(start) + bytes - begin,
           MADV_POPULATE_READ);
}

void OwnMemory::Touch(void* start, size_t bytes) {
  const size_t page = PageBytes();
  const uintptr_t end = reinterpret_cast<uintptr_t>(start) + bytes;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(start) & ~(page - 1);
  // All at once: a fault for each page would take several times as long.
  if (Populate(begin, end - begin, MADV_POPULATE_WRITE)) return;
  for (uintptr_t at = begin; at < end; at += page) {
    volatile char* const byte = reinterpret_cast<volatile char*>(at);
    *byte = *byte;
  }
}

void* OwnMemory::Map(size_t bytes) { return MapTable(bytes, false); }

void* OwnMemory::MapTold(size_t bytes) { return MapTable(bytes, true); }

void OwnMemory::Wrote(const void* start, size_t bytes) {
  const size_t page_bytes = PageBytes();
  const uintptr_t begin = reinterpret_cast<uintptr_t>(start);
  for (int i = 0; i < g_range_count; ++i) {
    Range& range = g_ranges[i];
    if (begin < range.start || begin >= range.end) continue;
    const size_t last = (begin + bytes - 1 - range.start) / page_bytes;
    for (size_t page = (begin - range.start) / page_bytes;
         page <= last && page < kWrittenWords * 64; ++page) {
      __atomic_fetch_or(&range.written[page / 64], uint64_t{1} << page % 64,
                        __ATOMIC_RELAXED);
    }
  }
}

void OwnMemory::ForgetTables(const void* kept, const void* gone) {
  int left = 0;
  for (int i = 0; i < g_range_count; ++i) {
    Range range = g_ranges[i];
    if (range.start == reinterpret_cast<uintptr_t>(gone)) continue;
    if (range.kind == RangeKind::kTable &&
        range.start != reinterpret_cast<uintptr_t>(kept)) {
      range.kind = RangeKind::kForgotten;
    }
    g_ranges[left++] = range;
  }
  g_range_count = left;
}

uint64_t OwnMemory::ResidentBytes() {
  uint64_t bytes = 0;
  for (int i = 0; i < g_range_count; ++i) bytes += ResidentIn(g_ranges[i]);
  return bytes;
}

}  // namespace pymemrun
