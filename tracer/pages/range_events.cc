#include "tracer/pages/range_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracer/base/clock.h"
#include "tracer/base/interposed_state.h"
#include "tracer/ring/side_ring.h"
#include "tracer/wire/pagemap_scan.h"

namespace pymemrun {
namespace {

// Smaller mappings are left to their faults: one fault brings as much.
constexpr size_t kLeastBytes = size_t{64} << 10;
constexpr size_t kRegionsAtOnce = 64;
constexpr size_t kEntriesAtOnce = 512;
// Limits for one mapping that was read at many places. Further ranges are not
// recorded.
constexpr int kMostScans = 16;
constexpr int kMostReads = 512;  // of entries: 1 GiB of small pages

// The control page, if resident pages are recorded; otherwise null.
const ControlPage* AskingPage() {
  const ControlPage* const page = TracedPage();
  return page != nullptr && page->asks_pages != 0 ? page : nullptr;
}

size_t WholePages(size_t bytes, const ControlPage& page) {
  const size_t mask = page.page_bytes - 1;
  return (bytes + mask) & ~mask;
}

template <typename Head>
void Put(SideKind kind, const Head& told, const char* name = nullptr) {
  SideItem item(kind, told.behind());
  if (!item.ok()) return;
  item.Fill(told);
  item.Append(name, told.behind());
  item.Commit();
}

void PutFound(SideFileFound told, uintptr_t begin, size_t bytes) {
  told.address = begin;
  told.bytes = bytes;
  Put(SideKind::kFileFound, told);
}

// By system call, because the functions of libc are interposed.
int Open(const char* file) {
  return static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC));
}

// RSS from /proc/self/statm; 0: it cannot be read. Parsed by hand, without
// libc.
uint64_t RssBytes(uint64_t page_bytes) {
  const int statm = Open("/proc/self/statm");
  if (statm < 0) return 0;
  char text[64] = {};
  const long got = syscall(SYS_read, statm, text, sizeof(text) - 1);
  syscall(SYS_close, statm);
  const char* at = text;
  while (got > 0 && *at != 0 && *at != ' ') ++at;
  uint64_t pages = 0;
  if (*at == ' ') ++at;
  for (; '0' <= *at && *at <= '9'; ++at) {
    pages = 10 * pages + static_cast<uint64_t>(*at - '0');
  }
  return pages * page_bytes;
}

// By PAGEMAP_SCAN. Returns false before Linux 6.7, which lacks it.
bool ScanResident(int pagemap, uintptr_t begin, uintptr_t end,
                  const SideFileFound& told) {
  PageRegion regions[kRegionsAtOnce];
  PagemapScan scan = {};
  scan.begin = begin;
  scan.end = end;
  scan.regions = reinterpret_cast<uintptr_t>(regions);
  scan.regions_max = kRegionsAtOnce;
  scan.category_mask = kPageIsPresent;
  for (int i = 0; i < kMostScans && scan.begin < scan.end; ++i) {
    const long count = syscall(SYS_ioctl, pagemap, kPagemapScan, &scan);
    for (long j = 0; j < count; ++j) {
      PutFound(told, regions[j].begin, regions[j].end - regions[j].begin);
    }
    if (count < 0) return i > 0;
    if (scan.walk_end <= scan.begin) break;
    scan.begin = scan.walk_end;
  }
  return true;
}

// By the entries of /proc/self/pagemap, joined to runs.
void ReadResident(int pagemap, uintptr_t begin, uintptr_t end,
                  uint64_t page_bytes, const SideFileFound& told) {
  uint64_t entries[kEntriesAtOnce];
  uintptr_t at = begin, found = 0;
  int runs = 0;
  for (int i = 0; i < kMostReads && at < end; ++i) {
    const uint64_t left = (end - at) / page_bytes;
    const long got = syscall(
        SYS_pread64, pagemap, entries,
        sizeof(uint64_t) * (left < kEntriesAtOnce ? left : kEntriesAtOnce),
        at / page_bytes * sizeof(uint64_t));
    if (got < static_cast<long>(sizeof(uint64_t))) break;
    for (size_t j = 0; j < static_cast<size_t>(got) / sizeof(uint64_t); ++j) {
      const bool there = (entries[j] & kPagemapPresent) != 0;
      if (there && found == 0) found = at;
      if (!there && found != 0) {
        PutFound(told, found, at - found);
        found = 0;
        if (++runs == kMostScans * static_cast<int>(kRegionsAtOnce)) return;
      }
      at += page_bytes;
    }
  }
  if (found != 0) PutFound(told, found, at - found);
}

// Records which pages are resident there, as far as the kernel tells.
void PutResident(uintptr_t begin, uintptr_t end, uint64_t page_bytes,
                 uint64_t time_ns) {
  const int pagemap = Open("/proc/self/pagemap");
  if (pagemap < 0) return;
  SideFileFound told;
  told.time_ns = time_ns;
  told.rss_bytes = RssBytes(page_bytes);
  if (!ScanResident(pagemap, begin, end, told)) {
    ReadResident(pagemap, begin, end, page_bytes, told);
  }
  syscall(SYS_close, pagemap);
}

}  // namespace

FileWatch::Slot FileWatch::slots_[kSlots];
std::atomic<uint32_t> FileWatch::count_;

// The name comes from /proc/self/fd: the mapping may be gone when the collector
// looks for it.
void FileWatch::Mapped(const void* address, size_t bytes, int fd) {
  const ControlPage* const page = AskingPage();
  if (page == nullptr || bytes < kLeastBytes) return;
  const int saved_errno = errno;
  const auto begin = reinterpret_cast<uintptr_t>(address);
  bytes = WholePages(bytes, *page);
  char link[40], name[1024];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const long length =
      syscall(SYS_readlinkat, AT_FDCWD, link, name, sizeof(name));
  if (length > 0) {
    Put(SideKind::kFileMapped,
        SideFileMapped{
            {.detail = static_cast<uint32_t>(length), .time_ns = MonotonicNs()},
            begin,
            bytes},
        name);
    Watch(begin, begin + bytes);
  }
  errno = saved_errno;
}

// Claims a slot by compare-and-swap. Without a free one the mapping is not
// watched.
void FileWatch::Watch(uintptr_t begin, uintptr_t end) {
  for (Slot& slot : slots_) {
    uintptr_t free = 0;
    if (!slot.begin.compare_exchange_strong(free, begin)) continue;
    slot.end = end;
    count_.fetch_add(1);
    return;
  }
}

void FileWatch::MovedSlow(uintptr_t from, uintptr_t to, size_t bytes,
                          bool stays) {
  const ControlPage* const page = AskingPage();
  if (page == nullptr) return;
  bytes = WholePages(bytes, *page);
  for (Slot& slot : slots_) {
    uintptr_t begin = slot.begin;
    if (begin == 0 || from < begin || from >= slot.end) continue;
    Put(SideKind::kFileMapped,
        SideFileMapped{{.time_ns = MonotonicNs()}, to, bytes, from});
    // If a part moved, the rest stays.
    if (!stays && from == begin &&
        slot.begin.compare_exchange_strong(begin, 0)) {
      count_.fetch_sub(1);
    }
    return Watch(to, to + bytes);
  }
}

void FileWatch::LeavingSlow(uintptr_t begin, size_t bytes, uint64_t time_ns,
                            bool stays) {
  const ControlPage* const page = AskingPage();
  if (page == nullptr) return;
  const int saved_errno = errno;
  if (time_ns == 0) time_ns = MonotonicNs();
  const uintptr_t end = begin + WholePages(bytes, *page);
  for (Slot& slot : slots_) {
    uintptr_t first = slot.begin;
    const uintptr_t last = slot.end;
    if (first == 0 || last <= begin || end <= first) continue;
    PutResident(first > begin ? first : begin, last < end ? last : end,
                page->page_bytes, time_ns);
    if (stays || begin > first || last > end) continue;  // a part of it
    if (slot.begin.compare_exchange_strong(first, 0)) count_.fetch_sub(1);
  }
  errno = saved_errno;
}

}  // namespace pymemrun
