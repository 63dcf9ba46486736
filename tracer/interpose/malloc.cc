// What C code asks of malloc, calloc and the aligned ones; free and realloc are
// in memory.cc. Without --native these only forward.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "tracer/base/interposed_state.h"
#include "tracer/heap/heap_parts.h"

namespace pymemrun {
namespace {

// Records the block if `counts` was true before the call. Returns the block,
// and keeps errno. `caller` is the code that asked for it.
inline void* Counted(bool counts, void* block, size_t size,
                     const void* caller) {
  if (__builtin_expect(counts, 0)) {
    g_heap.native.Allocated(
        {block, size, AllocatorKind::kMalloc, false, caller});
  }
  return block;
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE void* malloc(size_t size) noexcept {
  const bool counts = g_heap.native.counts();
  return Counted(counts, PYMEMRUN_NEXT(malloc)(size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* calloc(size_t count, size_t each) noexcept {
  const bool counts = g_heap.native.counts();
  // If the product overflows there is no block, and the size does not matter.
  return Counted(counts, PYMEMRUN_NEXT(calloc)(count, each), count * each,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* memalign(size_t alignment, size_t size) noexcept {
  const bool counts = g_heap.native.counts();
  return Counted(counts, PYMEMRUN_NEXT(memalign)(alignment, size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* aligned_alloc(size_t alignment, size_t size) noexcept {
  const bool counts = g_heap.native.counts();
  return Counted(counts, PYMEMRUN_NEXT(aligned_alloc)(alignment, size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE int posix_memalign(void** block, size_t alignment,
                                      size_t size) noexcept {
  const bool counts = g_heap.native.counts();
  const int result = PYMEMRUN_NEXT(posix_memalign)(block, alignment, size);
  if (result == 0) {
    Counted(counts, *block, size, __builtin_return_address(0));
  }
  return result;
}

PYMEMRUN_INTERPOSE void* valloc(size_t size) noexcept {
  const bool counts = g_heap.native.counts();
  return Counted(counts, PYMEMRUN_NEXT(valloc)(size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* pvalloc(size_t size) noexcept {
  const bool counts = g_heap.native.counts();
  return Counted(counts, PYMEMRUN_NEXT(pvalloc)(size), size,
                 __builtin_return_address(0));
}
