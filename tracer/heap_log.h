// Heap events on their way to the collector. With --heap all those seen under
// the GIL go into the event ring, a slot each; all others, and all samples, go
// into the side ring.
#ifndef PYMEMRUN_TRACER_HEAP_LOG_H_
#define PYMEMRUN_TRACER_HEAP_LOG_H_

#include <cstddef>
#include <cstdint>

#include "tracer/cpython_compat.h"
#include "tracer/hot_state.h"
#include "tracer/ring_layout.h"
#include "tracer/side_ring.h"

namespace pymemrun {

// The calling thread is within an allocator's hook: what is asked for there of
// the allocators below is part of what was counted already, or not the
// program's. But for what an allocator asks for its own books: then the size is
// another than t_heap_request, where that is not kAnySize.
inline constexpr size_t kAnySize = ~size_t{0};
extern constinit thread_local bool t_heap_inside;
extern constinit thread_local size_t t_heap_request;

class HeapInside {
 public:
  explicit HeapInside(size_t request = kAnySize)
      : before_(t_heap_inside), request_(t_heap_request) {
    t_heap_inside = true;
    t_heap_request = request;
  }
  ~HeapInside() {
    t_heap_inside = before_;
    t_heap_request = request_;
  }
  HeapInside(const HeapInside&) = delete;
  HeapInside& operator=(const HeapInside&) = delete;

 private:
  const bool before_;
  const size_t request_;
};

// An allocation.
struct HeapBlock {
  const void* address;
  size_t size;
  AllocatorKind kind;
  bool by_tracing;     // made by tracing itself
  const void* caller;  // of malloc, or null
};

// Under the GIL; `tstate` is its holder. Nothing allocates.
class HeapLog {
 public:
  static void Allocated(HotState& hot, PyThreadState* tstate,
                        const HeapBlock& block);
  // Before the free.
  static void Freeing(HotState& hot, const void* address);
  // Before a realloc of `address`; then Allocated, or where it failed Kept.
  static void Reallocating(HotState& hot, const void* address);
  static void Kept(HotState& hot, const void* address);
  // The next event states its time: it is from behind a mark.
  static void StateClock();
};

// Any thread, with or without the GIL. Keeps errno.
class HeapAside {
 public:
  // Returns false where there was no room.
  static bool Allocated(const HeapBlock& block);
  // Before the free.
  static void Freeing(const void* address);
};

// The free that a call may come to: made before it, it holds the place. Of null
// there is none.
class HeapAsideFree {
 public:
  // By a realloc.
  explicit HeapAsideFree(const void* old);
  // By a call that unmaps whole pages, or moves them to where this thread's
  // next allocation of kMremap says.
  HeapAsideFree(const void* start, size_t bytes, bool moves);
  // The call failed if Freed() was not called.
  ~HeapAsideFree();
  HeapAsideFree(const HeapAsideFree&) = delete;
  HeapAsideFree& operator=(const HeapAsideFree&) = delete;
  void Freed();

 private:
  void Hold(SideKind kind, const void* old);

  SideItem place_;
  bool done_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_TRACER_HEAP_LOG_H_
