#include "tracer/heap_end_watch.h"

#include <errno.h>

#include "tracer/safe_read.h"

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

const char* HeapEndWatch::heap_begin_ = nullptr;
TrimForecast HeapEndWatch::forecast_;

void HeapEndWatch::Start(const char* heap_begin) { heap_begin_ = heap_begin; }

HeapEndWatch::HeapEndWatch(const void* block, size_t kept_bytes)
    : end_(heap_begin_ == nullptr
               ? HeapEnd{}
               : EndAbove(block, kept_bytes, heap_begin_, BreakWatch::Break())),
      break_(forecast_.IsExpected(end_)) {
  // A heap that is empty goes as a whole, and then the end of the one before
  // it. A thread's first one never does, so that it can be looked at after any
  // call.
  const ThreadHeap* heap = end_.heap;
  if (heap == nullptr) return;
  stays_ = heap->before == nullptr;
  if (!expected() && !stays_) return;
  for (Watched& watched : watched_) {
    if (heap == nullptr) break;
    watched = {heap, heap->bytes};
    heap = heap->before;
  }
}

void HeapEndWatch::AddLeft() const {
  const bool trimmed =
      end_.heap != nullptr ? AddLeftOfThread() : break_.AddTrimmed();
  if (trimmed || expected()) forecast_.Saw(end_, trimmed);
}

// Returns whether anything has left.
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
  const RangeEvents late(!expected());
  const RangeEvents& events = expected() ? break_.events() : late;
  events.Add(bytes_now > 0 ? RangeAction::kDiscarded : RangeAction::kUnmapped,
             begin + bytes_now, watched.bytes - bytes_now);
}

}  // namespace pymemrun
