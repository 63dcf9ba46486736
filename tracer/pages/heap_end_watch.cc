#include "tracer/pages/heap_end_watch.h"

#include <errno.h>

#include "tracer/base/safe_read.h"

namespace pymemrun {

bool BreakWatch::AddTrimmed() const {
  const char* now = Break();
  if (now >= before_) return false;
  const auto bytes = static_cast<size_t>(before_ - now);
  if (events_.wanted()) {
    events_.Add(RangeAction::kTrimmed, now, bytes);
  } else {
    RangeEvents().Add(RangeAction::kTrimmed, now, bytes);
  }
  return true;
}

constinit HeapEnds g_heap_ends;

HeapEndWatch::HeapEndWatch(HeapEnds* ends, const void* block, size_t kept_bytes)
    : ends_(*ends),
      end_(FindEnd(block, kept_bytes)),
      break_(ends_.forecast.IsExpected(end_)) {
  if (heap_ != nullptr) Watch();
}

// The free end of the heap that the block is in: that of a thread (heap_), or
// the main one.
HeapEnd HeapEndWatch::FindEnd(const void* block, size_t kept_bytes) {
  if (ends_.begin == nullptr || block == nullptr) return {};
  const int saved_errno = errno;
  const ThreadHeap* const heap = ThreadHeapOf(block);
  const bool known = heap != nullptr && ends_.thread_heaps.Know(heap, block);
  errno = saved_errno;
  if (!known) {
    const char* const end = heap == nullptr ? BreakWatch::Break() : nullptr;
    return EndAbove(block, kept_bytes, ends_.begin, end);
  }
  heap_ = heap;
  const auto begin = reinterpret_cast<const char*>(heap);
  return EndAbove(block, kept_bytes, begin, begin + heap->bytes);
}

// glibc releases an empty heap as a whole, then the end of the previous one. It
// never releases the first heap of a thread, so that can be looked at after any
// call.
void HeapEndWatch::Watch() {
  const ThreadHeap* heap = heap_;
  stays_ = heap->before == nullptr;
  if (!expected() && !stays_) return;
  for (Watched& watched : watched_) {
    if (heap == nullptr) break;
    watched = {heap, heap->bytes};
    heap = heap->before;
  }
}

// The forecast learns from each result.
void HeapEndWatch::AddLeft() const {
  const bool trimmed =
      heap_ != nullptr ? AddLeftOfThread() : break_.AddTrimmed();
  if (trimmed || expected()) ends_.forecast.Saw(end_, trimmed);
}

// Returns whether pages were released. A heap may be unmapped by now, so its
// head is read safely.
bool HeapEndWatch::AddLeftOfThread() const {
  const Watched& first = watched_[0];
  if (first.heap == nullptr) return false;
  if (stays_ && first.heap->bytes >= first.bytes) return false;
  const int saved_errno = errno;
  bool any = false;
  for (const Watched& watched : watched_) {
    if (watched.heap == nullptr) break;
    ThreadHeap now;
    const bool there = ReadSafely(watched.heap, &now, sizeof(now));
    if (there ? now.bytes >= watched.bytes : errno != EFAULT) break;
    any = true;
    AddLeftOfHeap(watched, there ? now.bytes : 0);
    if (there) break;
  }
  errno = saved_errno;
  return any;
}

void HeapEndWatch::AddLeftOfHeap(const Watched& watched,
                                 size_t bytes_now) const {
  const auto begin = reinterpret_cast<const char*>(watched.heap);
  if (bytes_now == 0) ends_.thread_heaps.Forget(watched.heap);
  const RangeEvents late(!expected());
  const RangeEvents& events = expected() ? break_.events() : late;
  events.Add(bytes_now > 0 ? RangeAction::kDiscarded : RangeAction::kUnmapped,
             begin + bytes_now, watched.bytes - bytes_now);
}

}  // namespace pymemrun
