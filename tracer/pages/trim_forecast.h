#ifndef PYMEMRUN_TRACER_PAGES_TRIM_FORECAST_H_
#define PYMEMRUN_TRACER_PAGES_TRIM_FORECAST_H_

#include <atomic>
#include <cstddef>
#include <initializer_list>

#include "tracer/pages/malloc_heap.h"

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

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_PAGES_TRIM_FORECAST_H_
