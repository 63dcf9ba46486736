#include "tracer/heap_size_hooks.h"

#include <atomic>

#include "tracer/allocator_layers.h"
#include "tracer/heap_sizes.h"
#include "tracer/made_by_tracing.h"

namespace pymemrun {
namespace {

PyMemAllocatorEx g_next[3];  // obj, mem, raw
constexpr uint32_t kRaw = 2;
bool g_installed = false;
std::atomic<bool> g_counts;

// The calling thread is in a hook above: what is asked for below is part of
// what that one counts.
constinit thread_local bool t_inside = false;

struct Inside {
  const bool before = t_inside;
  Inside() { t_inside = true; }
  ~Inside() { t_inside = before; }
};

// The block that the allocator below gave, counted.
template <uint32_t D>
void* Counted(void* block, size_t size) {
  if (block == nullptr || !g_counts.load(std::memory_order_relaxed)) {
    return block;
  }
  if (D == kRaw) {
    HeapSizes::CountAside(size);
  } else if (!IsTracings<D>(PymemrunGilHolder(), size)) {
    HeapSizes::Count(size);
  }
  return block;
}

template <uint32_t D>
void* Malloc(void*, size_t size) {
  if (t_inside) return g_next[D].malloc(g_next[D].ctx, size);
  const Inside inside;
  return Counted<D>(g_next[D].malloc(g_next[D].ctx, size), size);
}

template <uint32_t D>
void* Calloc(void*, size_t count, size_t each) {
  if (t_inside) return g_next[D].calloc(g_next[D].ctx, count, each);
  const Inside inside;
  // Where the product is too large there is no block.
  return Counted<D>(g_next[D].calloc(g_next[D].ctx, count, each), count * each);
}

template <uint32_t D>
void* Realloc(void*, void* block, size_t size) {
  if (t_inside) return g_next[D].realloc(g_next[D].ctx, block, size);
  const Inside inside;
  return Counted<D>(g_next[D].realloc(g_next[D].ctx, block, size), size);
}

template <uint32_t D>
void Free(void*, void* block) {
  g_next[D].free(g_next[D].ctx, block);
}

template <uint32_t D>
void Hook(PyMemAllocatorDomain domain) {
  AllocatorLayers::Put(
      domain, {nullptr, Malloc<D>, Calloc<D>, Realloc<D>, Free<D>}, &g_next[D]);
}

}  // namespace

bool HeapSizeHooks::Create() { return HeapSizes::Create(); }

void HeapSizeHooks::Install() {
  g_installed = true;
  Hook<kRaw>(PYMEM_DOMAIN_RAW);
  Hook<1>(PYMEM_DOMAIN_MEM);
  Hook<0>(PYMEM_DOMAIN_OBJ);
}

bool HeapSizeHooks::installed() { return g_installed; }

PyMemAllocatorEx& HeapSizeHooks::below(uint32_t domain) {
  return g_next[domain];
}

void HeapSizeHooks::Count(bool on) {
  g_counts.store(on, std::memory_order_relaxed);
}

}  // namespace pymemrun
