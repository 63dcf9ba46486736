// Tells of what free() gives back from the end of a heap: glibc lowers the
// break, or discards pages of a thread's heap, by calls of its own.
#ifndef PYMEMRUN_TRACER_PAGES_HEAP_END_WATCH_H_
#define PYMEMRUN_TRACER_PAGES_HEAP_END_WATCH_H_

#include <atomic>
#include <cstddef>
#include <initializer_list>

#include "tracer/pages/malloc_heap.h"
#include "tracer/pages/range_events.h"

namespace pymemrun {

// When glibc gives a heap's end back is its own affair: when it has grown to
// some size, at least 64 KiB, which it makes larger as the program goes. What
// has been seen to stay will stay. Any thread.
class TrimForecast {
 public:
  bool IsExpected(const HeapEnd& end) const {
    return end.bytes >= kLeast && end.bytes > Kept(false) &&
           (!end.may_be_cached || end.bytes > Kept(true));
  }
  // What has come of an end.
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
  // The largest that was not trimmed; and when the block may have been cached,
  // which says nothing of others.
  std::atomic<size_t> kept_[2] = {};
};

// Tells of pages that a call makes the break give back. `expected`: it may, so
// that the event has the time before it. Where none was expected it costs two
// loads, and an event has the time of the call's end.
class BreakWatch {
 public:
  explicit BreakWatch(bool expected) : events_(expected), before_(Break()) {}
  // To be called after it. Returns whether there were any.
  bool AddTrimmed() const;
  // libc's idea of it; null where that is not known.
  static const char* Break() {
    void* const* word = Hot().brk_word;
    return word != nullptr ? static_cast<const char*>(*word) : nullptr;
  }
  const RangeEvents& events() const { return events_; }

 private:
  const RangeEvents events_;
  const char* const before_;
};

// What is known of the heaps' ends so far. Any thread.
struct HeapEnds {
  const char* begin =
      nullptr;  // of the break's heap; null: nothing is expected
  TrimForecast forecast;
  ThreadHeaps thread_heaps;
};
extern constinit HeapEnds g_heap_ends;

// The events of one free(), or of one realloc() that keeps the first
// `kept_bytes` of the block. To be made before it.
class HeapEndWatch {
 public:
  explicit HeapEndWatch(HeapEnds* ends, const void* block,
                        size_t kept_bytes = 0);
  // To be called after it.
  void AddLeft() const;

 private:
  // What is watched of a thread's heaps.
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
  const ThreadHeap* heap_ = nullptr;  // nullptr: the break's
  const HeapEnd end_;
  const BreakWatch break_;
  Watched watched_[kMostWatched];  // up to the first without a heap
  bool stays_ = false;             // the first of these does
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_HEAP_END_WATCH_H_
