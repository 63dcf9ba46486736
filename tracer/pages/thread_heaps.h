// Which of glibc's heaps for threads were seen to be such.
#ifndef PYMEMRUN_TRACER_PAGES_THREAD_HEAPS_H_
#define PYMEMRUN_TRACER_PAGES_THREAD_HEAPS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/base/safe_read.h"
#include "tracer/pages/malloc_heap.h"

namespace pymemrun {

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

#endif  // PYMEMRUN_TRACER_PAGES_THREAD_HEAPS_H_
