#include "tracer/objects/child_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace pymemrun {

// All by raw system calls, because the functions of libc are interposed.
// Another thread of the parent may have held a lock of malloc at the fork, so
// malloc must not be called in the child. Memory is mapped in large pieces and
// mostly never freed: the child lives for one dump.
void (*g_child_out_of_memory)() = nullptr;

namespace {

// A huge page; and the pieces from which small allocations are cut.
constexpr size_t kHugeBytes = size_t{2} << 20;
constexpr size_t kArenaBytes = size_t{1} << 18;

// Ends the child if there is no memory: nothing here can be undone.
void* Checked(long result) {
  void* at = reinterpret_cast<void*>(result);
  if (at == MAP_FAILED) {
    g_child_out_of_memory();
    _exit(1);
  }
  return at;
}

}  // namespace

void* MapChildMemory(size_t bytes) {
  void* at =
      Checked(syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  // Huge pages: fewer faults, and fewer misses of the TLB.
  if (bytes >= kHugeBytes) syscall(SYS_madvise, at, bytes, MADV_HUGEPAGE);
  return at;
}

void* RemapChildMemory(void* at, size_t bytes, size_t new_bytes) {
  at = Checked(syscall(SYS_mremap, at, bytes, new_bytes, MREMAP_MAYMOVE));
  if (new_bytes >= kHugeBytes) {
    syscall(SYS_madvise, at, new_bytes, MADV_HUGEPAGE);
  }
  return at;
}

void UnmapChildMemory(void* at, size_t bytes) {
  syscall(SYS_munmap, at, bytes);
}

void* ChildArena::Allocate(size_t bytes) {
  bytes = (bytes + 15) & ~size_t{15};
  if (bytes >= kArenaBytes / 4) return MapChildMemory(bytes);
  if (bytes > left_) {
    at_ = static_cast<char*>(MapChildMemory(kArenaBytes));
    left_ = kArenaBytes;
  }
  void* piece = at_;
  at_ += bytes;
  left_ -= bytes;
  return piece;
}

// Open addressing with linear probing, at most half full; key 0 is an empty
// slot.
void PointerMap::Add(uint64_t key, uint32_t value) {
  if (slots_ == nullptr || 2 * count_ > mask_) Grow();
  size_t at = HashOf(key) & mask_;
  while (slots_[at].key != 0) at = (at + 1) & mask_;
  slots_[at] = {key, value};
  ++count_;
}

// Doubles, so each key is moved a constant number of times on average.
void PointerMap::Grow() {
  constexpr size_t kFirstSlots = 4096;
  const size_t slots = slots_ == nullptr ? 0 : mask_ + 1;
  Slot* const before = slots_;
  const size_t more = slots == 0 ? kFirstSlots : 2 * slots;
  slots_ = static_cast<Slot*>(MapChildMemory(more * sizeof(Slot)));
  mask_ = more - 1;
  for (size_t i = 0; i < slots; ++i) {
    if (before[i].key == 0) continue;
    size_t at = HashOf(before[i].key) & mask_;
    while (slots_[at].key != 0) at = (at + 1) & mask_;
    slots_[at] = before[i];
  }
  if (slots != 0) UnmapChildMemory(before, slots * sizeof(Slot));
}

namespace {

constexpr size_t kHeadBytes = 16;  // before a block: its size

size_t SizeOf(const void* block) {
  size_t bytes;
  memcpy(&bytes, static_cast<const char*>(block) - kHeadBytes, sizeof(bytes));
  return bytes;
}

}  // namespace

void ChildHeap::Open(size_t bytes) {
  begin_ = top_ = static_cast<char*>(MapChildMemory(bytes));
  bytes_ = bytes;
}

bool ChildHeap::IsOurs(const void* block) const {
  return block >= begin_ && block < begin_ + bytes_;
}

// A bump allocator for code that calls malloc in the child. Free() only takes
// back the last block; that is enough for strings made and dropped at once.
void* ChildHeap::Allocate(size_t bytes) {
  if (bytes > bytes_) return nullptr;
  bytes = (bytes + 15) & ~size_t{15};
  if (bytes == 0) bytes = 16;
  const size_t left = bytes_ - static_cast<size_t>(top_ - begin_);
  if (kHeadBytes + bytes > left) return nullptr;
  char* const block = top_ + kHeadBytes;
  memcpy(top_, &bytes, sizeof(bytes));
  top_ = block + bytes;
  return block;
}

void* ChildHeap::AllocateZeros(size_t count, size_t bytes) {
  if (bytes != 0 && count > bytes_ / bytes) return nullptr;
  void* const block = Allocate(count * bytes);
  if (block != nullptr) memset(block, 0, count * bytes);
  return block;
}

void ChildHeap::Free(void* block) {
  if (!IsOurs(block)) return;
  char* const at = static_cast<char*>(block);
  if (at + SizeOf(block) == top_) top_ = at - kHeadBytes;
}

// Never grows in place. Blocks of the parent have an unknown size and are
// refused.
void* ChildHeap::Reallocate(void* block, size_t bytes) {
  if (block != nullptr && !IsOurs(block)) return nullptr;
  void* const other = Allocate(bytes);
  if (block != nullptr && other != nullptr) {
    const size_t had = SizeOf(block);
    memcpy(other, block, had < bytes ? had : bytes);
  }
  return other;
}

namespace {

// A line of /proc/self/maps, cut at the size of the buffer.
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
  // Shared memory may have the name of a file, too.
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

// Reads /proc/self/maps line by line, up to a limit of text for the whole dump.
// Unknown memory counts as a file's.
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

// By mincore(2), up to a limit of pages for the whole dump.
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
