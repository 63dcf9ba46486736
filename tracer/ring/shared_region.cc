#include "tracer/ring/shared_region.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tracer/base/own_memory.h"

namespace pymemrun {
namespace {

size_t g_region_bytes = 0;  // mapped bytes of the region

// Closes a descriptor on destruction, and keeps errno.
struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    const int saved = errno;
    if (fd >= 0) close(fd);
    errno = saved;
  }
  int Release() {
    const int released = fd;
    fd = -1;
    return released;
  }
};

// Creates a memfd whose size is sealed: a process that maps it can never get
// SIGBUS from a shorter file.
int MakeFile(const char* name, size_t bytes) {
  Descriptor file = {memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  if (file.fd < 0 || ftruncate(file.fd, static_cast<off_t>(bytes)) != 0) {
    return -1;
  }
  if (fcntl(file.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return -1;
  return file.Release();
}

// Returns a second, read-only descriptor of the file. With the first one, a
// read-only mapping could be made writable by mprotect().
int OpenForReading(int fd) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  return open(path, O_RDONLY | O_CLOEXEC);
}

// Maps both pieces side by side, so that ReplyOf() is a constant offset.
// Reserves the address range first, then maps the files over it. Returns
// nullptr with errno set on failure.
ControlPage* MapBoth(int reply_fd, int region_fd, size_t region_bytes) {
  void* place = mmap(nullptr, kReplyBytes + region_bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  char* const region = static_cast<char*>(place) + kReplyBytes;
  const bool mapped = mmap(place, kReplyBytes, PROT_READ,
                           MAP_SHARED | MAP_FIXED, reply_fd, 0) != MAP_FAILED &&
                      mmap(region, region_bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, region_fd, 0) != MAP_FAILED;
  if (mapped) return reinterpret_cast<ControlPage*>(region);
  const int saved = errno;
  munmap(place, kReplyBytes + region_bytes);
  errno = saved;
  return nullptr;
}

char* EventRingOf(ControlPage* page) {
  return reinterpret_cast<char*>(page) + kControlBytes;
}

size_t EventRingBytes(const ControlPage& page) {
  return size_t{RingSlots(page)} * kRingSlotBytes;
}

// Touches what the hooks use first, so that it does not fault during events and
// is in the RSS from the start.
void TouchWhatIsEarly(ControlPage* page) {
  const auto* const bytes =
      reinterpret_cast<const volatile char*>(&ReplyOf(page));
  for (size_t at = 0; at < sizeof(ReplyPage); at += page->page_bytes) {
    (void)bytes[at];
  }
  OwnMemory::Touch(page, kControlBytes);
  if (g_region_bytes > SideRingOffset(*page)) {
    OwnMemory::Touch(reinterpret_cast<char*>(page) + SideRingOffset(*page),
                     SideCells(*page) * kSideCellBytes);
  }
}

}  // namespace

// The region's file always has room for a side ring, but that is mapped only if
// it is used. Under a low `ulimit -f` the rings are small.
ControlPage* SharedRegion::Create(bool side_ring, RingSizes sizes,
                                  RegionFds* fds) {
  ControlPage plan = {};
  plan.rings = sizes;
  const size_t bytes = side_ring ? RegionBytes(plan) : SideRingOffset(plan);
  Descriptor region = {MakeFile("pymemrun-ring", RegionBytes(plan))};
  if (region.fd < 0) {
    const bool is_too_large = errno == EFBIG && sizes == RingSizes::kWhole;
    return is_too_large
               ? Create(side_ring, RingSizes::kSmall, fds)  // ulimit -f
               : nullptr;
  }
  Descriptor reply = {MakeFile("pymemrun-ring-reply", kReplyBytes)};
  if (reply.fd < 0) return nullptr;
  const Descriptor reads = {OpenForReading(reply.fd)};
  // Mode 0: the program cannot open the file again by /proc/self/fd.
  if (reads.fd < 0 || fchmod(reply.fd, 0) != 0) return nullptr;
  ControlPage* page = MapBoth(reads.fd, region.fd, bytes);
  if (page == nullptr) return nullptr;
  g_region_bytes = bytes;
  page->magic = kRingMagic;
  page->version = kWireVersion;
  page->rings = sizes;
  page->traced_pid = static_cast<uint32_t>(getpid());
  page->page_bytes = static_cast<uint32_t>(sysconf(_SC_PAGESIZE));
  MakeSignOfLife(&page->alive);
  *fds = {region.Release(), reply.Release()};
  return page;
}

bool SharedRegion::KeepToOurselves(ControlPage* page) {
  TouchWhatIsEarly(page);
  // One call for both, as they are mapped side by side.
  void* const begin = const_cast<ReplyPage*>(&ReplyOf(page));
  return madvise(begin, mapped_bytes(), MADV_DONTFORK) == 0;
}

bool SharedRegion::ShareChildCounts(ControlPage* page) {
  return page->page_bytes == kChildCountsOffset &&
         madvise(ChildCountsOf(page), page->page_bytes, MADV_DOFORK) == 0;
}

void SharedRegion::TouchEventRing(ControlPage* page) {
  OwnMemory::Touch(EventRingOf(page), EventRingBytes(*page));
}

void SharedRegion::MapEventRing(ControlPage* page) {
  OwnMemory::MapWhatIsThere(EventRingOf(page), EventRingBytes(*page));
  TouchEventRing(page);
}

size_t SharedRegion::mapped_bytes() { return kReplyBytes + g_region_bytes; }

}  // namespace pymemrun
