#include "tracer/objects/child_allocator.h"

#include <Python.h>

#include <initializer_list>

#include "tracer/cpython/allocator_layers.h"
#include "tracer/objects/child_heap.h"

namespace pymemrun {
namespace {

constexpr size_t kHeapBytes = size_t{256} << 20;
constinit ChildHeap g_heap;

void* Allocate(void*, size_t bytes) { return g_heap.Allocate(bytes); }

void* AllocateZeros(void*, size_t count, size_t bytes) {
  return g_heap.AllocateZeros(count, bytes);
}

void* Reallocate(void*, void* block, size_t bytes) {
  return g_heap.Reallocate(block, bytes);
}

// What the parent had stays.
void Free(void*, void* block) { g_heap.Free(block); }

}  // namespace

void UseChildAllocator() {
  g_heap.Open(kHeapBytes);
  const PyMemAllocatorEx allocator = {nullptr, Allocate, AllocateZeros,
                                      Reallocate, Free};
  for (const PyMemAllocatorDomain domain :
       {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ}) {
    AllocatorLayers::Replace(domain, allocator);
  }
}

}  // namespace pymemrun
