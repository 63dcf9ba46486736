// Records memory that free() releases at the end of a heap: glibc lowers the
// break, or discards pages of a thread heap, by internal calls.
#ifndef PYMEMRUN_TRACER_PAGES_HEAP_END_WATCH_H_
#define PYMEMRUN_TRACER_PAGES_HEAP_END_WATCH_H_

#include <atomic>
#include <cstddef>
#include <initializer_list>

#include "tracer/pages/malloc_heap.h"
#include "tracer/pages/range_events.h"

namespace pymemrun {

// Predicts whether glibc will release the end of a heap. It does so when the
// free end exceeds some size, at least 64 KiB, which glibc raises as the
// program runs. An end of a size that was not released before is not expected
// to be. Any thread.
class TrimForecast {
 public:
  bool IsExpected(const HeapEnd& end) const {
    return end.bytes >= kLeast && end.bytes > Kept(false) &&
           (!end.may_be_cached || end.bytes > Kept(true));
  }
  // Result of a free at the end of a heap.
  void Saw(const HeapEnd& end, bool trimmed) {
    if (end.bytes == 0) return;
    if (!trimmed) {
      if (end.bytes > Kept(end.may_be_cached)) {
        Keep(end.may_be_cached, end.bytes);
      }
      return;
    }
    for (const bool cached : {false, true}) {
      if (end.bytes <= Kept(cached)) Keep(cached, end.bytes - end.bytes / 16);
    }
  }

 private:
  static constexpr size_t kLeast = size_t{64} << 10;
  size_t Kept(bool cached) const {
    return kept_[cached].load(std::memory_order_relaxed);
  }
  void Keep(bool cached, size_t bytes) {
    kept_[cached].store(bytes, std::memory_order_relaxed);
  }
  // Largest end that was not released; the second one is for blocks that may
  // have been cached, which says nothing of others.
  std::atomic<size_t> kept_[2] = {};
};

// Records pages that a call makes the break release. `expected`: it may, so the
// event gets the time before the call. If it was not expected, this costs two
// loads, and an event gets the time after the call.
class BreakWatch {
 public:
  explicit BreakWatch(bool expected) : events_(expected), before_(Break()) {}
  // Call it after the call. Returns whether pages were released.
  bool AddTrimmed() const;
  // The break as libc knows it; null if not known.
  static const char* Break() {
    void* const* word = Hot().brk_word;
    return word != nullptr ? static_cast<const char*>(*word) : nullptr;
  }
  const RangeEvents& events() const { return events_; }

 private:
  const RangeEvents events_;
  const char* const before_;
};

// Knowledge about ends of heaps so far. Any thread.
struct HeapEnds {
  const char* begin = nullptr;  // of the main heap; null: not known
  TrimForecast forecast;
  ThreadHeaps thread_heaps;
};
extern constinit HeapEnds g_heap_ends;

// Events of a free(), or of a realloc() that keeps the first `kept_bytes` of
// the block. Create it before the call.
class HeapEndWatch {
 public:
  explicit HeapEndWatch(HeapEnds* ends, const void* block,
                        size_t kept_bytes = 0);
  // Call it after the call.
  void AddLeft() const;

 private:
  // A watched heap of a thread, and its size before.
  struct Watched {
    const ThreadHeap* heap = nullptr;
    size_t bytes = 0;
  };
  static constexpr int kMostWatched = 4;
  HeapEnd FindEnd(const void* block, size_t kept_bytes);
  void Watch();
  bool AddLeftOfThread() const;
  void AddLeftOfHeap(const Watched& watched, size_t bytes_now) const;
  bool expected() const { return break_.events().wanted(); }

  HeapEnds& ends_;
  const ThreadHeap* heap_ = nullptr;  // nullptr: the main heap
  const HeapEnd end_;
  const BreakWatch break_;
  Watched watched_[kMostWatched];  // ends at the first null heap
  bool stays_ = false;             // the first heap is not released
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_HEAP_END_WATCH_H_
