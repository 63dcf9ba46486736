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

// Why not malloc: the tracer runs inside allocators and signal handlers, and
// its memory must be told apart from that of the program. So each table is a
// mapping of its own. Up to kMaxRanges mappings are listed in g_ranges.
//
// What happens at a fork: the child inherits all mappings copy-on-write.
// Mapping and touching new tables would take longer than many children live. So
// the child keeps the old mappings as kForgotten, and MapTable() returns one of
// the same size, zeroed. Zero() writes only pages that are not zero already,
// because each page written is a page copied. For tables made by MapTold() it
// does not even read pages that Wrote() has not named. Invariant: a page of a
// told table that is not in `written` holds only zeros.
//
// kNamed: memory that is only counted. kTable: in use. kForgotten: inherited
// from the parent, free for reuse.
enum class RangeKind { kNamed, kTable, kForgotten };

// One bit for each of a table's first pages; later pages count as written.
constexpr size_t kWrittenWords = 8;

struct Range {
  uintptr_t start;
  uintptr_t end;
  RangeKind kind;
  bool told;  // Wrote() is called; otherwise all may be written
  uint64_t written[kWrittenWords];  // bit per page; atomic
};
constexpr int kMaxRanges = 16;
Range g_ranges[kMaxRanges];
int g_range_count = 0;

size_t PageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// A raw system call, because the interposed madvise() would record it as one of
// the program.
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

// Zeroes a table and writes only pages that are not zero: the others stay
// shared with the parent. Reading all pages of all tables would take longer
// than the rest of a short child's start, so pages never reported as written
// are skipped.
void Zero(Range* range) {
  const size_t page = PageBytes();
  for (uintptr_t at = range->start; at < range->end; at += page) {
    if (!MayBeWritten(*range, (at - range->start) / page)) continue;
    auto* const words = reinterpret_cast<uint64_t*>(at);
    if (!IsZero(words, page / sizeof(*words))) memset(words, 0, page);
  }
  memset(range->written, 0, sizeof(range->written));
}

// Returns a forgotten table of this size, zeroed, or null. Sizes are compared
// exactly: the tables of a child are those of its parent.
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
  // The mapping begins and ends with a page of PROT_NONE. Without these guards
  // the kernel may merge a table with a neighbouring mapping of the program,
  // and the two could not be told apart in /proc/PID/maps.
  memory += page;
  if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) return nullptr;
  // Small pages only: the kernel may replace them by a huge page and back at
  // any time, which would change RSS.
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
    // mincore() fills one byte per page, so a large range takes several calls.
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
  // All pages in one call (Linux 5.14): faulting page by page takes several
  // times as long.
  if (Populate(begin, end - begin, MADV_POPULATE_WRITE)) return;
  for (uintptr_t at = begin; at < end; at += page) {
    // Older kernels: writes each page with the value it has.
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
      // Relaxed: the bits are read only after a fork, in the only thread of the
      // child.
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
