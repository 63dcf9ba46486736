#include "tracer/cpython/allocator_layers.h"

extern "C" {
#ifdef PYMEMRUN_STATIC_PYTHON
// The renamed originals (tracer/CMakeLists.txt).
void pymemrun_real_PyMem_GetAllocator(PyMemAllocatorDomain domain,
                                      PyMemAllocatorEx* allocator);
void pymemrun_real_PyMem_SetAllocator(PyMemAllocatorDomain domain,
                                      PyMemAllocatorEx* allocator);
#else
#define pymemrun_real_PyMem_GetAllocator PyMem_GetAllocator
#define pymemrun_real_PyMem_SetAllocator PyMem_SetAllocator
#endif
}  // extern "C"

namespace pymemrun {
namespace {

// For each domain, where the lowest layer of the tracer keeps the allocator
// below it.
PyMemAllocatorEx* g_below[3];

// The context of all layers of the tracer, by which they are recognised.
char g_mark;

bool IsOurs(const PyMemAllocatorEx& allocator) {
  return allocator.ctx == &g_mark;
}

}  // namespace

PyMemAllocatorEx AllocatorLayers::Get(PyMemAllocatorDomain domain) {
  PyMemAllocatorEx there;
  pymemrun_real_PyMem_GetAllocator(domain, &there);
  return there;
}

void AllocatorLayers::Replace(PyMemAllocatorDomain domain,
                              PyMemAllocatorEx ours) {
  ours.ctx = &g_mark;
  pymemrun_real_PyMem_SetAllocator(domain, &ours);
}

void AllocatorLayers::Put(PyMemAllocatorDomain domain, PyMemAllocatorEx ours,
                          PyMemAllocatorEx* below) {
  *below = Get(domain);
  if (!IsOurs(*below)) g_below[domain] = below;
  Replace(domain, ours);
}

#ifdef PYMEMRUN_STATIC_PYTHON
namespace {

// The allocator that the program sees instead of `there`; null: `there` itself.
PyMemAllocatorEx* BelowOurs(PyMemAllocatorDomain domain,
                            const PyMemAllocatorEx& there) {
  return IsOurs(there) ? g_below[domain] : nullptr;
}

}  // namespace
#endif

}  // namespace pymemrun

#ifdef PYMEMRUN_STATIC_PYTHON
extern "C" {

void PyMem_GetAllocator(PyMemAllocatorDomain domain,
                        PyMemAllocatorEx* allocator) {
  using namespace pymemrun;  // NOLINT: C's own names
  pymemrun_real_PyMem_GetAllocator(domain, allocator);
  const PyMemAllocatorEx* below = BelowOurs(domain, *allocator);
  if (below != nullptr) *allocator = *below;
}

// CPython itself restores an allocator that it replaced for a moment. That may
// be a layer of the tracer, so it is set as it is.
void PyMem_SetAllocator(PyMemAllocatorDomain domain,
                        PyMemAllocatorEx* allocator) {
  using namespace pymemrun;  // NOLINT: C's own names
  PyMemAllocatorEx* below = BelowOurs(domain, AllocatorLayers::Get(domain));
  if (below != nullptr && !IsOurs(*allocator)) {
    *below = *allocator;
  } else {
    pymemrun_real_PyMem_SetAllocator(domain, allocator);
  }
}

}  // extern "C"
#endif
