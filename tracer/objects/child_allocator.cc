#include "tracer/objects/child_allocator.h"

#include <Python.h>
#include <string.h>

#include <initializer_list>

#include "tracer/cpython/allocator_layers.h"
#include "tracer/objects/child_memory.h"

namespace pymemrun {
namespace {

constexpr size_t kHeapBytes = size_t{256} << 20;
constexpr size_t kHeadBytes = 16;  // before a block: its size

char* g_begin = nullptr;
char* g_top = nullptr;

bool IsOurs(const void* block) {
  return block >= g_begin && block < g_begin + kHeapBytes;
}

size_t SizeOf(const void* block) {
  size_t bytes;
  memcpy(&bytes, static_cast<const char*>(block) - kHeadBytes, sizeof(bytes));
  return bytes;
}

void* Allocate(void*, size_t bytes) {
  if (bytes > kHeapBytes / 2) return nullptr;
  bytes = (bytes + 15) & ~size_t{15};
  if (bytes == 0) bytes = 16;
  if (g_top + kHeadBytes + bytes > g_begin + kHeapBytes) return nullptr;
  char* const block = g_top + kHeadBytes;
  memcpy(g_top, &bytes, sizeof(bytes));
  g_top = block + bytes;
  return block;
}

void* AllocateZeros(void*, size_t count, size_t bytes) {
  if (bytes != 0 && count > kHeapBytes / bytes) return nullptr;
  void* const block = Allocate(nullptr, count * bytes);
  if (block != nullptr) memset(block, 0, count * bytes);
  return block;
}

// What the parent had stays.
void Free(void*, void* block) {
  if (!IsOurs(block)) return;
  char* const at = static_cast<char*>(block);
  if (at + SizeOf(block) == g_top) g_top = at - kHeadBytes;
}

void* Reallocate(void*, void* block, size_t bytes) {
  if (block != nullptr && !IsOurs(block)) return nullptr;  // of unknown size
  void* const other = Allocate(nullptr, bytes);
  if (block != nullptr && other != nullptr) {
    const size_t had = SizeOf(block);
    memcpy(other, block, had < bytes ? had : bytes);
  }
  return other;
}

}  // namespace

void UseChildAllocator() {
  g_begin = g_top = static_cast<char*>(MapChildMemory(kHeapBytes));
  const PyMemAllocatorEx allocator = {nullptr, Allocate, AllocateZeros,
                                      Reallocate, Free};
  for (const PyMemAllocatorDomain domain :
       {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ}) {
    AllocatorLayers::Replace(domain, allocator);
  }
}

}  // namespace pymemrun
