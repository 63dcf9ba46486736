// Heap events on their way to the collector. With --heap all those seen under
// the GIL go into the event ring, a slot each; all others, and all samples, go
// into the side ring.
#ifndef PYMEMRUN_TRACER_HEAP_HEAP_LOG_H_
#define PYMEMRUN_TRACER_HEAP_HEAP_LOG_H_

#include <cstddef>
#include <cstdint>

#include "tracer/base/heap_inside.h"
#include "tracer/base/hot_state.h"
#include "tracer/cpython/compat.h"
#include "tracer/ring/side_ring.h"
#include "tracer/wire/ring_layout.h"

namespace pymemrun {

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
  // An allocation fails, of an object perhaps: its stack is not asked for.
  static void Fails(bool of_object);
  // Before the free.
  static void Freeing(HotState& hot, const void* address);
  // Before a realloc of `address`; then Allocated, or where it failed Kept.
  static void Reallocating(HotState& hot, const void* address);
  static void Kept(HotState& hot, const void* address);
  // The next event states its time: it is from behind a mark.
  static void StateClock(HotState& hot);
};

// Any thread, with or without the GIL. Keeps errno.
class HeapAside {
 public:
  // Returns false where there was no room.
  static bool Allocated(const HeapBlock& block);
  // Before the free.
  static void Freeing(const void* address);
};

// The free that a call may come to. Made before the call, it holds the place in
// the ring. It does nothing for null.
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

#endif  // PYMEMRUN_TRACER_HEAP_HEAP_LOG_H_
