// How glibc's malloc lays out memory, as far as that tells what a call of
// free() gives back to the kernel. Only reads; of a block of glibc's own.
#ifndef PYMEMRUN_TRACER_PAGES_MALLOC_HEAP_H_
#define PYMEMRUN_TRACER_PAGES_MALLOC_HEAP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/safe_read.h"

namespace pymemrun {

// The mapping that glibc made for one block alone; `bytes` is 0 where the block
// has none.
struct MappedBlock {
  const char* start = nullptr;
  size_t bytes = 0;
};

// Of any allocator's block. One that has a mapping begins 16 bytes into a page,
// and of the two words before it the nearer is its size with bit 1 set, the
// other what lies unused before it. From glibc 2.43 on the size lacks them.
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

// What stands at the begin of a heap that glibc made for threads. Heaps begin
// at multiples of their largest size; a thread has as many as it needs.
struct ThreadHeap {
  static constexpr size_t kMostBytes = size_t{64} << 20;

  const void* arena;
  const ThreadHeap* before;  // which was full when this one was made
  size_t bytes;              // from here on; what is beyond was given back
  size_t accessible_bytes;
};

// The heap of a thread's that the block lies in, by its address alone; nullptr:
// it lies in the break's heap, or has a mapping.
inline const ThreadHeap* ThreadHeapOf(const void* block) {
  constexpr size_t kMapped = 2, kOfThread = 4;
  const size_t word = static_cast<const size_t*>(block)[-1];
  if ((word & (kMapped | kOfThread)) != kOfThread) return nullptr;
  return reinterpret_cast<const ThreadHeap*>(
      reinterpret_cast<uintptr_t>(block) & ~(ThreadHeap::kMostBytes - 1));
}

// The free end of a heap, which is what glibc gives back of it.
struct HeapEnd {
  // As large as it is with the block; 0: the block does not lie right below it.
  size_t bytes = 0;
  // The block may be kept for the thread's next malloc() instead of joining it.
  bool may_be_cached = false;
};

// The free end that the block joins when it is freed, except its first
// `kept_bytes`. Its heap is [begin, end); blocks elsewhere get {}. Mostly costs
// two loads.
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
  // What lies above the block is the heap's end if it is all there is.
  const char* const above = at + size - kHead;
  const size_t rest = reinterpret_cast<const size_t*>(above)[1] & ~kFlags;
  if (above + rest != end) return {};
  const size_t below =
      (word & kBelowInUse) != 0 ? 0 : static_cast<const size_t*>(block)[-2];
  return {below + size - kept_bytes + rest, size <= kMostCached};
}

// Which of glibc's heaps for threads were seen to be such.
//
// A heap's begin is computed from a block's address, as glibc lays out heaps.
// Another glibc may do otherwise. So what should be a heap's begin is read
// safely when it is met first. If it is not one, no other is looked for. Any
// thread.
class ThreadHeaps {
 public:
  void Start() { on_.store(true, std::memory_order_relaxed); }
  // Whether `heap`, which is ThreadHeapOf(block), may be read.
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
  // It is gone.
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
