// Memory layout of malloc in glibc (malloc.c, arena.c), as far as it tells what
// free() will return to the kernel. Only reads memory. Blocks must be from
// glibc unless a comment says otherwise.
#ifndef PYMEMRUN_TRACER_PAGES_MALLOC_HEAP_H_
#define PYMEMRUN_TRACER_PAGES_MALLOC_HEAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/safe_read.h"

namespace pymemrun {

// A mapping that glibc made for a single block; `bytes` is 0 for other blocks.
struct MappedBlock {
  const char* start = nullptr;
  size_t bytes = 0;
};

// Returns the mapping of a block of any allocator. A block with its own mapping
// starts 16 bytes into a page. The word before it is its size with bit 1 set.
// The word before that is the number of unused bytes in front. From glibc 2.43
// on the size does not include the 16 bytes.
inline MappedBlock MappedBlockOf(const void* block) {
  constexpr size_t kMapped = 2, kFlags = 7, kPage = 4096;
  constexpr size_t kHead = 2 * sizeof(size_t);
  if ((reinterpret_cast<uintptr_t>(block) & (kPage - 1)) != kHead) return {};
  const size_t size = static_cast<const size_t*>(block)[-1];
  const size_t before = static_cast<const size_t*>(block)[-2];
  if ((size & kMapped) == 0) return {};
  MappedBlock mapping = {static_cast<const char*>(block) - kHead - before,
                         (size & ~kFlags) + before};
  if ((mapping.bytes + kHead) % kPage == 0) mapping.bytes += kHead;
  const bool sound = before % kPage == 0 && mapping.bytes % kPage == 0 &&
                     mapping.bytes < size_t{1} << 46;
  return sound ? mapping : MappedBlock{};
}

// Header of a heap that glibc made for threads. Heaps start at multiples of
// their largest size; a thread has as many as it needs.
struct ThreadHeap {
  static constexpr size_t kMostBytes = size_t{64} << 20;

  const void* arena;
  const ThreadHeap* before;  // the previous heap of this arena, which is full
  size_t bytes;              // in use from here on; the rest was released
  size_t accessible_bytes;
};

// Returns the thread heap that contains the block, computed from the address.
// Null if the block is in the main heap (brk) or has its own mapping.
inline const ThreadHeap* ThreadHeapOf(const void* block) {
  constexpr size_t kMapped = 2, kOfThread = 4;
  const size_t word = static_cast<const size_t*>(block)[-1];
  if ((word & (kMapped | kOfThread)) != kOfThread) return nullptr;
  return reinterpret_cast<const ThreadHeap*>(
      reinterpret_cast<uintptr_t>(block) & ~(ThreadHeap::kMostBytes - 1));
}

// Free memory at the end of a heap, which glibc may return to the kernel.
struct HeapEnd {
  // Size including the freed block; 0 if the block is not directly below it.
  size_t bytes = 0;
  // The block may be cached for the next malloc() of the thread instead.
  bool may_be_cached = false;
};

// Returns the free end that results from freeing the block except its first
// `kept_bytes`. The heap is [begin, end); blocks elsewhere get {}. Usually
// costs two loads.
inline HeapEnd EndAbove(const void* block, size_t kept_bytes, const char* begin,
                        const char* end) {
  constexpr size_t kFlags = 7, kBelowInUse = 1;
  constexpr size_t kHead = 2 * sizeof(size_t), kLeast = 2 * kHead;
  constexpr size_t kMostCached = 1040;
  const char* const at = static_cast<const char*>(block);
  if (at < begin + kHead || at >= end) return {};
  const size_t word = static_cast<const size_t*>(block)[-1];
  const size_t size = word & ~kFlags;
  if (size < kLeast || size <= kept_bytes) return {};
  if (size > static_cast<size_t>(end - at)) return {};
  // The chunk after the block is the free end of the heap if it reaches the end
  // of the heap.
  const char* const above = at + size - kHead;
  const size_t rest = reinterpret_cast<const size_t*>(above)[1] & ~kFlags;
  if (above + rest != end) return {};
  const size_t below =
      (word & kBelowInUse) != 0 ? 0 : static_cast<const size_t*>(block)[-2];
  return {below + size - kept_bytes + rest, size <= kMostCached};
}

// Thread heaps whose header was checked.
//
// The start of a heap is computed from the address of a block, as glibc lays
// out heaps. Another glibc may differ. So the first access to each header is a
// safe read that checks it. If one check fails, thread heaps are not looked at
// any more. Any thread.
class ThreadHeaps {
 public:
  void Start() { on_.store(true, std::memory_order_relaxed); }
  // Whether the header of `heap`, which is ThreadHeapOf(block), may be read.
  bool Know(const ThreadHeap* heap, const void* block) {
    if (!on_.load(std::memory_order_relaxed)) return false;
    std::atomic<const ThreadHeap*>& known = SlotOf(heap);
    if (known.load(std::memory_order_relaxed) == heap) return true;
    if (!IsHeap(heap, block)) {
      on_.store(false, std::memory_order_relaxed);
      return false;
    }
    known.store(heap, std::memory_order_relaxed);
    return true;
  }
  // The heap was unmapped.
  void Forget(const ThreadHeap* heap) {
    SlotOf(heap).store(nullptr, std::memory_order_relaxed);
  }

 private:
  static constexpr size_t kSlots = 64;
  std::atomic<const ThreadHeap*>& SlotOf(const ThreadHeap* heap) {
    return known_[reinterpret_cast<uintptr_t>(heap) / ThreadHeap::kMostBytes %
                  kSlots];
  }
  static bool IsHeap(const ThreadHeap* heap, const void* block) {
    constexpr size_t kPage = 4096;
    ThreadHeap found;
    if (!ReadSafely(heap, &found, sizeof(found))) return false;
    const auto offset = static_cast<size_t>(
        static_cast<const char*>(block) - reinterpret_cast<const char*>(heap));
    return found.arena != nullptr && found.bytes % kPage == 0 &&
           offset < found.bytes && found.bytes <= found.accessible_bytes &&
           found.accessible_bytes <= ThreadHeap::kMostBytes;
  }

  std::atomic<bool> on_{false};
  std::atomic<const ThreadHeap*> known_[kSlots] = {};
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_MALLOC_HEAP_H_
