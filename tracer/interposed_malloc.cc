// What C code asks of malloc's kin; free and realloc are in
// interposed_memory.cc. Without --native these only forward.
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "tracer/heap_native.h"
#include "tracer/interposed_state.h"

namespace pymemrun {
namespace {

using MallocFunction = void*(size_t);
using PairFunction = void*(size_t, size_t);
using PosixMemalignFunction = int(void**, size_t, size_t);
std::atomic<MallocFunction*> g_malloc, g_valloc, g_pvalloc;
std::atomic<PairFunction*> g_calloc, g_memalign, g_aligned_alloc;
std::atomic<PosixMemalignFunction*> g_posix_memalign;

// Where the allocation is to be counted: so it is, as asked for by the code at
// `caller`. Returns the block, and keeps errno.
inline void* Counted(bool counts, void* block, size_t size,
                     const void* caller) {
  if (__builtin_expect(counts, 0)) {
    HeapNative::Allocated({block, size, AllocatorKind::kMalloc, false, caller});
  }
  return block;
}

}  // namespace
}  // namespace pymemrun

using namespace pymemrun;  // the definitions below are libc's names

PYMEMRUN_INTERPOSE void* malloc(size_t size) noexcept {
  const bool counts = HeapNative::counts();
  return Counted(counts, Next(g_malloc, "malloc")(size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* calloc(size_t count, size_t each) noexcept {
  const bool counts = HeapNative::counts();
  // Where the product is too large there is no block.
  return Counted(counts, Next(g_calloc, "calloc")(count, each), count * each,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* memalign(size_t alignment, size_t size) noexcept {
  const bool counts = HeapNative::counts();
  return Counted(counts, Next(g_memalign, "memalign")(alignment, size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* aligned_alloc(size_t alignment, size_t size) noexcept {
  const bool counts = HeapNative::counts();
  return Counted(counts,
                 Next(g_aligned_alloc, "aligned_alloc")(alignment, size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE int posix_memalign(void** block, size_t alignment,
                                      size_t size) noexcept {
  const bool counts = HeapNative::counts();
  const int result =
      Next(g_posix_memalign, "posix_memalign")(block, alignment, size);
  if (result == 0) {
    Counted(counts, *block, size, __builtin_return_address(0));
  }
  return result;
}

PYMEMRUN_INTERPOSE void* valloc(size_t size) noexcept {
  const bool counts = HeapNative::counts();
  return Counted(counts, Next(g_valloc, "valloc")(size), size,
                 __builtin_return_address(0));
}

PYMEMRUN_INTERPOSE void* pvalloc(size_t size) noexcept {
  const bool counts = HeapNative::counts();
  return Counted(counts, Next(g_pvalloc, "pvalloc")(size), size,
                 __builtin_return_address(0));
}
