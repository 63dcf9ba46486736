#include "tracer/heap/heap_size_hooks.h"

#include <atomic>

#include "tracer/cpython/abilities.h"
#include "tracer/cpython/allocator_layers.h"
#include "tracer/heap/heap_parts.h"
#include "tracer/heap/made_by_tracing.h"

namespace pymemrun {
namespace {

struct Hooks {
  PyMemAllocatorEx next[3] = {};  // the allocators below: obj, mem, raw
  bool installed = false;
  std::atomic<bool> counts{false};
};
constinit Hooks g_hooks;
constexpr uint32_t kRaw = 2;

// The calling thread is in a hook above this one, which counts the request.
constinit thread_local bool t_inside = false;

// CPython's allocators call each other: obj passes large requests on to raw,
// and both are hooked (Objects/obmalloc.c). Only the outermost hook counts.
struct Inside {
  const bool before = t_inside;
  Inside() { t_inside = true; }
  ~Inside() { t_inside = before; }
};

// The block that the allocator below gave, counted. Raw requests come without
// the GIL, so they are counted aside, in a way that is safe for several
// threads.
template <uint32_t D>
void* Counted(void* block, size_t size) {
  if (block == nullptr || !g_hooks.counts.load(std::memory_order_relaxed)) {
    return block;
  }
  constexpr bool kAside = !kTracesCalls || D == kRaw;
  if (kAside) {
    g_heap_sizes.CountAside(size);
  } else if (!IsTracings<D>(PymemrunGilHolder(), size)) {
    g_heap_sizes.Count(size);
  }
  return block;
}

template <uint32_t D>
void* Malloc(void*, size_t size) {
  if (t_inside) return g_hooks.next[D].malloc(g_hooks.next[D].ctx, size);
  const Inside inside;
  return Counted<D>(g_hooks.next[D].malloc(g_hooks.next[D].ctx, size), size);
}

template <uint32_t D>
void* Calloc(void*, size_t count, size_t each) {
  if (t_inside) return g_hooks.next[D].calloc(g_hooks.next[D].ctx, count, each);
  const Inside inside;
  // Where the product is too large there is no block.
  return Counted<D>(g_hooks.next[D].calloc(g_hooks.next[D].ctx, count, each),
                    count * each);
}

template <uint32_t D>
void* Realloc(void*, void* block, size_t size) {
  if (t_inside)
    return g_hooks.next[D].realloc(g_hooks.next[D].ctx, block, size);
  const Inside inside;
  return Counted<D>(g_hooks.next[D].realloc(g_hooks.next[D].ctx, block, size),
                    size);
}

template <uint32_t D>
void Free(void*, void* block) {
  g_hooks.next[D].free(g_hooks.next[D].ctx, block);
}

template <uint32_t D>
void Hook(PyMemAllocatorDomain domain) {
  AllocatorLayers::Put(domain,
                       {nullptr, Malloc<D>, Calloc<D>, Realloc<D>, Free<D>},
                       &g_hooks.next[D]);
}

}  // namespace

bool HeapSizeHooks::Create() { return g_heap_sizes.Create(); }

void HeapSizeHooks::Install() {
  g_hooks.installed = true;
  Hook<kRaw>(PYMEM_DOMAIN_RAW);
  Hook<1>(PYMEM_DOMAIN_MEM);
  Hook<0>(PYMEM_DOMAIN_OBJ);
}

bool HeapSizeHooks::installed() { return g_hooks.installed; }

PyMemAllocatorEx& HeapSizeHooks::below(uint32_t domain) {
  return g_hooks.next[domain];
}

void HeapSizeHooks::Count(bool on) {
  g_hooks.counts.store(on, std::memory_order_relaxed);
}

}  // namespace pymemrun
