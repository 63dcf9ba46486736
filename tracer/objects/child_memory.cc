#include "tracer/objects/child_memory.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pymemrun {

// By the system calls themselves: the functions are interposed.
void (*g_child_out_of_memory)() = nullptr;

namespace {

constexpr size_t kHugeBytes = size_t{2} << 20;
constexpr size_t kArenaBytes = size_t{1} << 18;

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
  // Fewer faults, and fewer misses of the TLB.
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

void PointerMap::Add(uint64_t key, uint32_t value) {
  if (slots_ == nullptr || 2 * count_ > mask_) Grow();
  size_t at = HashOf(key) & mask_;
  while (slots_[at].key != 0) at = (at + 1) & mask_;
  slots_[at] = {key, value};
  ++count_;
}

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

}  // namespace pymemrun
