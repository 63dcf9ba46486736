// Sends heap events to the collector. With --heap all, events seen under the
// GIL go into the event ring, one slot each. All others, and all samples, go
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
  const void* caller;  // code that called malloc, or null
};

// Events under the GIL; `tstate` is its holder. Nothing allocates.
class HeapLog {
 public:
  static void Allocated(HotState& hot, PyThreadState* tstate,
                        const HeapBlock& block);
  // An allocation fails, perhaps that of an object: its stack is not needed.
  static void Fails(bool of_object);
  // Before the free.
  static void Freeing(HotState& hot, const void* address);
  // Call it before a realloc of `address`; then Allocated(), or Kept() if it
  // failed.
  static void Reallocating(HotState& hot, const void* address);
  static void Kept(HotState& hot, const void* address);
  // The next event states its time, because it follows a mark.
  static void StateClock(HotState& hot);
};

// Events on any thread, with or without the GIL. Keeps errno.
class HeapAside {
 public:
  // Returns false if the ring had no room.
  static bool Allocated(const HeapBlock& block);
  // Before the free.
  static void Freeing(const void* address);
};

// The free that a call may cause. Created before the call, it holds its place
// in the ring. Does nothing for null.
class HeapAsideFree {
 public:
  // The free by a realloc.
  explicit HeapAsideFree(const void* old);
  // The free by a call that unmaps whole pages, or moves them to the address of
  // this thread's next allocation of kMremap.
  HeapAsideFree(const void* start, size_t bytes, bool moves);
  // If Freed() was not called, the call failed.
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
